#include "floodway_network.hh"

#include <cmath>
#include <stdexcept>
#include <utility>

namespace floodway {

Network::Network(const std::string &scenario, const floodway_options &options, std::vector<uint32_t> hosts)
    : hosts_(std::move(hosts)) {
    check(floodway_open(scenario.c_str(), &options, &session_));
    floodway_state state;
    check(floodway_get_state(session_, &state));
    for (size_t rank = 0; rank < hosts_.size(); ++rank) {
        if (hosts_[rank] >= state.hosts) {
            const std::string text = "rank " + std::to_string(rank) + " is on host " + std::to_string(hosts_[rank]) +
                                     ", and the network has " + std::to_string(state.hosts) + " hosts, counted from 0";
            floodway_free(session_);
            throw std::runtime_error(text);
        }
        ranks_.push_back(std::make_unique<Rank>(*this, static_cast<int>(rank)));
    }
}

Network::~Network() { floodway_free(session_); }

Rank &Network::rank(int rank) { return *ranks_.at(static_cast<size_t>(rank)); }

void Network::check(int code) const {
    if (code != FLOODWAY_OK && code != FLOODWAY_NONE) {
        throw std::runtime_error(floodway_message());
    }
}

void Network::run() {
    // Completions at a time come before timers at that time. Handlers may send, receive and schedule at the same time:
    // what they cause comes after everything that is due already.
    while (!finished()) {
        const uint64_t until = timers_.empty() ? FLOODWAY_NO_TIME : timers_.top().at;
        floodway_completion completion;
        const int code = floodway_next(session_, until, &completion);
        check(code);
        if (code == FLOODWAY_OK) {
            now_ = completion.completed_ps;
            arrive(completion.user);
        } else if (timers_.empty()) {
            if (!messages_.empty()) {
                throw std::runtime_error(std::to_string(messages_.size()) +
                                         " messages have not arrived when the simulation ends: raise `limit` in the scenario");
            }
            return;
        } else {
            const Timer timer = timers_.top();
            timers_.pop();
            now_ = timer.at;
            if (timer.handler != nullptr) {
                timer.handler(timer.argument);
            } else {
                arrive(timer.message);
            }
        }
    }
}

floodway_summary Network::close(const std::string &directory) {
    floodway_summary summary;
    check(floodway_close(session_, directory.empty() ? nullptr : directory.c_str(), &summary));
    return summary;
}

Network::Pair &Network::Channel::at(uint64_t number) {
    while (first + pairs.size() <= number) {
        pairs.emplace_back();
    }
    return pairs[static_cast<size_t>(number - first)];
}

void Network::send(int from, int to, uint64_t bytes, int tag, Handler handler, void *argument) {
    const Key key{tag, from, to, bytes};
    const uint64_t message = messages_made_++;
    messages_.emplace(message, Message{key, channels_[key].sends++, handler, argument});
    const uint32_t source = hosts_.at(static_cast<size_t>(from));
    const uint32_t destination = hosts_.at(static_cast<size_t>(to));
    if (source == destination || bytes == 0) {
        // It does not cross the network.
        schedule(0, nullptr, nullptr, message);
    } else {
        check(floodway_inject(session_, source, destination, bytes, FLOODWAY_NO_TIME, message, nullptr));
    }
}

void Network::receive(int at, int from, uint64_t bytes, int tag, Handler handler, void *argument) {
    Channel &channel = channels_[Key{tag, from, at, bytes}];
    Pair &pair = channel.at(channel.receives++);
    if (pair.arrived) {
        schedule(0, handler, argument, 0);
    } else {
        pair.handler = handler;
        pair.argument = argument;
    }
    pair.posted = true;
    while (!channel.pairs.empty() && channel.pairs.front().arrived && channel.pairs.front().posted) {
        channel.pairs.pop_front();
        ++channel.first;
    }
}

void Network::schedule(uint64_t delta, Handler handler, void *argument, uint64_t message) {
    timers_.push(Timer{now_ + delta, timers_made_++, handler, argument, message});
}

void Network::arrive(uint64_t number) {
    const auto found = messages_.find(number);
    const Message message = found->second;
    messages_.erase(found);
    Channel &channel = channels_[message.key];
    Pair &pair = channel.at(message.number);
    pair.arrived = true;
    const Pair receive = pair;
    while (!channel.pairs.empty() && channel.pairs.front().arrived && channel.pairs.front().posted) {
        channel.pairs.pop_front();
        ++channel.first;
    }
    // From here on handlers may change everything.
    if (message.handler != nullptr) {
        message.handler(message.argument);
    }
    if (receive.posted && receive.handler != nullptr) {
        receive.handler(receive.argument);
    }
}

int Rank::sim_send(void *, uint64_t count, int, int dst, int tag, AstraSim::sim_request *, void (*msg_handler)(void *),
                   void *fun_arg) {
    network_.send(rank, dst, count, tag, msg_handler, fun_arg);
    return 0;
}

int Rank::sim_recv(void *, uint64_t count, int, int src, int tag, AstraSim::sim_request *, void (*msg_handler)(void *),
                   void *fun_arg) {
    network_.receive(rank, src, count, tag, msg_handler, fun_arg);
    return 0;
}

void Rank::sim_schedule(AstraSim::timespec_t delta, void (*fun_ptr)(void *), void *fun_arg) {
    if (delta.time_res != AstraSim::NS || !(delta.time_val >= 0)) {
        throw std::runtime_error("sim_schedule: the delta must be at least 0 and in nanoseconds");
    }
    network_.schedule(static_cast<uint64_t>(std::llround(delta.time_val * 1000)), fun_ptr, fun_arg, 0);
}

AstraSim::timespec_t Rank::sim_get_time() {
    AstraSim::timespec_t time;
    time.time_res = AstraSim::NS;
    time.time_val = static_cast<decltype(time.time_val)>(network_.now_ps()) / 1000;
    return time;
}

void Rank::sim_notify_finished() {
    if (!finished_) {
        finished_ = true;
        ++network_.finished_;
    }
}

}  // namespace floodway
