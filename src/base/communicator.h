// Processes, called ranks, that work on one thing together, and how they talk to each other: what
// MPI does, as far as it is used here. The library knows this interface alone; a program brings the
// ranks: InMemoryRanks below are threads of one process, and the command line loads MPI when it
// was started under it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

namespace fovea {

// A message on its way. Its memory must stay where it is until it has arrived or was sent; so
// destroying one waits for it, unless a rank is lost.
class Transfer {
 public:
  virtual ~Transfer() = default;
  // Whether it is through; waits for at most so many seconds. An Error when a rank is lost, so that
  // it can never be.
  virtual bool done(double seconds = 0) = 0;
};

// One rank's end. Safe from many threads at once. Its virtual functions are all there is to
// implement, and none of them is defined here: a module that is loaded at run time needs no symbol
// of this library.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;  // from 0
  virtual int size() const = 0;  // how many there are

  // Begin to send, or to receive exactly as many bytes as were sent. Between two ranks, messages of
  // one tag arrive in the order in which they were sent.
  virtual std::unique_ptr<Transfer> start_send(int to, int tag,
                                               std::span<const std::byte> bytes) = 0;
  virtual std::unique_ptr<Transfer> start_receive(int from, int tag,
                                                  std::span<std::byte> bytes) = 0;
};

// Who uses which tags, so that no two talk past each other.
enum RankTag : int {
  tag_small = 1,     // the functions below
  tag_order = 2,     // what rank 0 has decided
  tag_gradient = 3,  // parts of gradients,
  tag_weight = 4,    // and of weights
  tag_state = 5,     // what an optimiser remembers
  tag_ring = 6,      // keys and values on their way round
  tag_jobs = 8,      // whole runs
  tag_leave = 9,     // a rank ends, and has said why
};

// Waits until it is through.
void finish(const std::unique_ptr<Transfer>& transfer);
void finish(std::vector<std::unique_ptr<Transfer>>& transfers);

// The same, and back when it is done.
void send(Communicator& ranks, int to, int tag, std::span<const std::byte> bytes);
void receive(Communicator& ranks, int from, int tag, std::span<std::byte> bytes);

// Every rank leaves with what rank `from` came with.
void broadcast(Communicator& ranks, std::span<std::byte> bytes, int from = 0);
// parts[r] becomes what rank r has in its own parts[r]; each may be of another size.
void all_gather(Communicator& ranks, std::span<const std::span<std::byte>> parts);
// Waits until all have come here.
void barrier(Communicator& ranks);

// Of one plain value, or a list that is equally long everywhere.
template <class T>
requires std::is_trivially_copyable_v<T> T broadcast_value(Communicator& ranks, T value,
                                                           int from = 0) {
  broadcast(ranks, std::as_writable_bytes(std::span(&value, 1)), from);
  return value;
}
// What every rank has for this, by rank.
template <class T>
requires std::is_trivially_copyable_v<T> std::vector<T> all_gather_value(Communicator& ranks,
                                                                         const T& value) {
  std::vector<T> all(static_cast<size_t>(ranks.size()));
  all[static_cast<size_t>(ranks.rank())] = value;
  std::vector<std::span<std::byte>> parts;
  for (T& one : all) parts.push_back(std::as_writable_bytes(std::span(&one, 1)));
  all_gather(ranks, parts);
  return all;
}

// Threads of this process as ranks: for tests, and for what is to be understood without MPI.
class InMemoryRanks {
 public:
  // So many, each with an end of its own, for one thread (or a few) to use.
  explicit InMemoryRanks(int count);
  ~InMemoryRanks();
  // The end of a rank. Lives as long as this.
  Communicator& at(int rank) const;
  // From now on whoever waits for this rank, or for anyone, gets an Error.
  void lose(int rank);

 private:
  struct Mail;
  class End;
  std::shared_ptr<Mail> mail_;
  std::vector<std::unique_ptr<End>> ends_;
};

}  // namespace fovea
