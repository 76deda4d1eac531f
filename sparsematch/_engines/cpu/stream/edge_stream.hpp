// Edges on disk: the user's file of records, read sequentially, and scratch space for what is left.
//
// Buffered reads, no memory map: the system's cache of a file does not count as the process's.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace sparsematch {

// The fields of a record, in bytes.
struct EdgeLayout {
    std::int64_t offset, count;      // of the first record; of records
    std::size_t size, u, v, weight;  // of a record; offsets of its fields
    int index_bytes, weight_bytes;   // 4 or 8; weights may be absent: 0
};

class File {
  public:
    bool open(const std::string& path, const char* mode) {
        file_.reset(open_file(path.c_str(), mode));
        if (file_) std::setvbuf(file_.get(), nullptr, _IONBF, 0);  // chunks are large
        return is_open();
    }
    bool is_open() const { return file_ != nullptr; }
    bool seek(std::int64_t place) { return file_ && seek_file(file_.get(), place); }
    std::size_t read(void* to, std::size_t bytes) { return std::fread(to, 1, bytes, file_.get()); }
    bool write(const void* from, std::size_t bytes) {
        return std::fwrite(from, 1, bytes, file_.get()) == bytes;
    }

  private:
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    std::unique_ptr<std::FILE, Close> file_;
};

// The user's file.
class EdgeSource {
  public:
    static constexpr std::size_t chunk_bytes = std::size_t{1} << 22;  // read at a time
    struct Ends {
        std::int64_t u, v;
        double weight;
    };

    EdgeSource(const std::string& path, const EdgeLayout& layout)
        : layout_(layout), per_chunk_(std::max<std::int64_t>(
                               1, static_cast<std::int64_t>(chunk_bytes / layout.size))),
          bytes_(per_chunk_ * layout.size) {
        file_.open(path, "rb");
    }

    std::int64_t count() const { return layout_.count; }
    bool rewind() {
        left_ = layout_.count;
        return file_.seek(layout_.offset);
    }
    // Reads the next chunk; returns its records, at the end or on failure none.
    std::int64_t read() {
        const std::int64_t n = std::min(left_, per_chunk_);
        if (file_.read(bytes_.data(), n * layout_.size) != n * layout_.size) return 0;
        left_ -= n;
        return n;
    }
    // The k-th record of the chunk. Without weights, that of the edge is 1.
    Ends edge(std::int64_t k) const {
        const char* at = bytes_.data() + k * layout_.size;
        double weight = 1;
        if (layout_.weight_bytes == 8) weight = field<double>(at + layout_.weight);
        else if (layout_.weight_bytes == 4) weight = field<float>(at + layout_.weight);
        if (layout_.index_bytes == 4)
            return {field<std::int32_t>(at + layout_.u), field<std::int32_t>(at + layout_.v),
                    weight};
        return {field<std::int64_t>(at + layout_.u), field<std::int64_t>(at + layout_.v), weight};
    }

  private:
    template <class T> static T field(const char* at) {
        T value;
        std::memcpy(&value, at, sizeof(T));
        return value;
    }

    const EdgeLayout layout_;
    const std::int64_t per_chunk_;
    std::int64_t left_ = 0;
    Buffer<char> bytes_;
    File file_;
};

// An edge that is left. Without weights its key is computed each time, which is cheaper.
template <class Index, bool Weighted> struct StreamedEdge {
    Index u, v;
    std::uint64_t key;
    std::uint64_t key_of(std::uint64_t) const { return key; }
};
template <class Index> struct StreamedEdge<Index, false> {
    Index u, v;
    std::uint64_t key_of(std::uint64_t seed) const { return edge_hash(u, v, seed); }
};

// The edges that are left: read from one file of the folder, unless it still is the user's, and
// written to another for the next pass.
template <class Record> class Scratch {
  public:
    explicit Scratch(std::string folder) : folder_(std::move(folder)) {}

    bool started() const { return here_.is_open(); }  // whether edges are read from here
    std::int64_t size() const { return size_; }

    bool rewind() {
        read_ = 0;
        return here_.seek(0);
    }
    // The next records, in any number but 0 before the end; -1: they cannot be read.
    std::int64_t read(std::vector<Record>& to) {
        const std::int64_t most = EdgeSource::chunk_bytes / sizeof(Record);
        to.resize(std::min(size_ - read_, most));
        const std::size_t bytes = to.size() * sizeof(Record);
        read_ += to.size();
        return here_.read(to.data(), bytes) == bytes ? to.size() : -1;
    }

    // Keeps `limit` edges at most; if there are more, the next pass reads the same as this one.
    bool begin(std::int64_t limit) {
        limit_ = limit, kept_ = 0;
        if (limit < 0) return true;
        const char* const name = started() ? "/1" : "/0";
        return (there_.is_open() || there_.open(folder_ + name, "w+b")) && there_.seek(0);
    }
    bool write(const Record* records, std::size_t n) {
        if (limit_ < 0) return true;
        kept_ += n;
        if (kept_ > limit_) return limit_ = -1, true;
        return there_.write(records, n * sizeof(Record));
    }
    void end() {
        if (limit_ < 0) return;
        std::swap(here_, there_);
        size_ = kept_;
    }

  private:
    const std::string folder_;
    File here_, there_;
    std::int64_t size_ = 0, read_ = 0, limit_ = 0, kept_ = 0;
};

}  // namespace sparsematch
