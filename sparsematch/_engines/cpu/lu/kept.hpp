// Memory that is kept from one call to the next, as to make it takes as long as a small matrix.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

namespace sparsematch {

// One object, kept for the next who needs one; several at a time make their own.
template <class T> class Kept {
  public:
    Kept() = default;
    Kept(const Kept&) = delete;
    ~Kept() { delete kept_.load(); }
    std::unique_ptr<T> take() {
        std::unique_ptr<T> out(kept_.exchange(nullptr));
        return out ? std::move(out) : std::make_unique<T>();
    }
    void give_back(std::unique_ptr<T> object) { delete kept_.exchange(object.release()); }

  private:
    std::atomic<T*> kept_{nullptr};
};

// Memory for a computation on n rows with some entries, of the process. None is kept after larger
// ones: some 1 MB at most, as it would be held beside what larger ones make.
template <class Workspace> class BorrowedWorkspace {
  public:
    explicit BorrowedWorkspace(std::size_t size) : size_(size), workspace_(kept().take()) {}
    BorrowedWorkspace(BorrowedWorkspace&&) = default;
    ~BorrowedWorkspace() {
        if (workspace_ && size_ <= most_kept) kept().give_back(std::move(workspace_));
    }
    Workspace& operator*() const { return *workspace_; }
    Workspace* operator->() const { return workspace_.get(); }

  private:
    static constexpr std::size_t most_kept = std::size_t{1} << 14;  // rows and entries
    static Kept<Workspace>& kept() {
        static Kept<Workspace> out;
        return out;
    }

    std::size_t size_;
    std::unique_ptr<Workspace> workspace_;
};

}  // namespace sparsematch
