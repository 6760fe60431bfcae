// floodway as a network back end of ASTRA-sim: packets, switches and congestion control below the messages of its system
// layer. See README.md in this directory, and docs/embed.md.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <queue>
#include <string>
#include <tuple>
#include <vector>

#include "astra-sim/common/AstraNetworkAPI.hh"
#include "floodway.h"

namespace floodway {

class Rank;

// The network of a job: a session of floodway, and the events of the system layer.
class Network {
  public:
    using Handler = void (*)(void *);

    // Rank r is on host `hosts[r]`. `options` as for floodway_open.
    Network(const std::string &scenario, const floodway_options &options, std::vector<uint32_t> hosts);
    ~Network();
    Network(const Network &) = delete;
    Network &operator=(const Network &) = delete;

    // The object that the `Sys` of a rank gets. It belongs to the network.
    Rank &rank(int rank);
    int ranks() const { return static_cast<int>(hosts_.size()); }

    // Handles events until all ranks have finished, or until there are none.
    void run();
    // Whether all ranks have finished.
    bool finished() const { return finished_ >= hosts_.size(); }
    // Ends the session, and writes its tables into a directory unless that is empty.
    floodway_summary close(const std::string &directory);

    uint64_t now_ps() const { return now_; }

  private:
    friend class Rank;

    // A message and its receive: the n-th send and the n-th receive with equal tag, source, destination and size belong together.
    struct Pair {
        bool arrived = false;
        bool posted = false;
        Handler handler = nullptr;
        void *argument = nullptr;
    };
    struct Channel {
        // Those before `first` are over.
        std::deque<Pair> pairs;
        uint64_t first = 0;
        uint64_t sends = 0;
        uint64_t receives = 0;
        Pair &at(uint64_t number);
    };
    using Key = std::tuple<int, int, int, uint64_t>;  // tag, source, destination, size
    struct Message {
        Key key;
        uint64_t number;
        Handler handler;
        void *argument;
    };
    struct Timer {
        uint64_t at;
        uint64_t order;
        Handler handler;
        void *argument;
        uint64_t message;  // the message that arrives then, if there is no handler
        bool operator>(const Timer &other) const { return std::tie(at, order) > std::tie(other.at, other.order); }
    };

    void send(int from, int to, uint64_t bytes, int tag, Handler handler, void *argument);
    void receive(int at, int from, uint64_t bytes, int tag, Handler handler, void *argument);
    void schedule(uint64_t delta, Handler handler, void *argument, uint64_t message);
    void arrive(uint64_t message);
    void check(int code) const;

    floodway_session *session_ = nullptr;
    std::vector<uint32_t> hosts_;
    std::vector<std::unique_ptr<Rank>> ranks_;
    std::map<Key, Channel> channels_;
    std::map<uint64_t, Message> messages_;  // in flight, by number
    std::priority_queue<Timer, std::vector<Timer>, std::greater<Timer>> timers_;
    uint64_t now_ = 0;
    uint64_t timers_made_ = 0;
    uint64_t messages_made_ = 0;
    size_t finished_ = 0;
};

// The interface of one rank.
class Rank : public AstraSim::AstraNetworkAPI {
  public:
    Rank(Network &network, int rank) : AstraNetworkAPI(rank), network_(network) {}

    int sim_send(void *buffer, uint64_t count, int type, int dst, int tag, AstraSim::sim_request *request,
                 void (*msg_handler)(void *), void *fun_arg) override;
    int sim_recv(void *buffer, uint64_t count, int type, int src, int tag, AstraSim::sim_request *request,
                 void (*msg_handler)(void *), void *fun_arg) override;
    void sim_schedule(AstraSim::timespec_t delta, void (*fun_ptr)(void *), void *fun_arg) override;
    AstraSim::timespec_t sim_get_time() override;
    void sim_notify_finished() override;

  private:
    Network &network_;
    bool finished_ = false;
};

}  // namespace floodway
