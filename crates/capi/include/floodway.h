/*
 * Sessions of floodway: a program injects flows into a simulated network, advances time, and collects completions.
 *
 * Link with libfloodway_c, as a shared or a static library. Times are picoseconds. A flow that is injected at a time starts
 * the host latency later. The same injections at the same times give the same completions, on any number of threads.
 *
 * Functions return a code of `enum floodway_code`. The text of an error is `floodway_message()`; a call that fails leaves
 * the session as it was. Sessions are independent of each other. One thread at a time may use a session.
 */
#ifndef FLOODWAY_H
#define FLOODWAY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum floodway_code {
    FLOODWAY_OK = 0,
    FLOODWAY_NONE = 1,     /* there is no completion */
    FLOODWAY_SCENARIO = 2, /* the scenario cannot run; the message has every reason */
    FLOODWAY_ARGUMENT = 3, /* an argument cannot be: an unknown host, a time that has passed, a size of 0 ... */
    FLOODWAY_CLOSED = 4,   /* the session is closed */
    FLOODWAY_FILE = 5,     /* tables cannot be written; the session is closed */
    FLOODWAY_INTERNAL = 6  /* floodway has a fault; the session is closed */
};

/* For `at_ps`: now. For `until_ps` of `floodway_next`: no limit. */
#define FLOODWAY_NO_TIME UINT64_MAX

/* A session. */
typedef struct floodway_session floodway_session;

/* How a session is opened. All zero but `replication = -1` is the default, and so is a null pointer. */
typedef struct floodway_options {
    const char *variant;  /* name of the variant; null if there is one only */
    const char *workload; /* name or number of the workload whose place injected flows take; null if there is one only */
    int64_t replication;  /* counted from 0; -1 if there is one only */
    uint64_t latency_ps;  /* from the injection of a flow to its start, at least a window; 0 for exactly a window */
    uint32_t threads;     /* 0 for 1 */
    uint32_t audit;       /* whether invariants are checked at every event */
} floodway_options;

/* Times and numbers of a session. */
typedef struct floodway_state {
    uint64_t now_ps;
    uint64_t latency_ps;
    uint64_t window_ps; /* the least latency: the shortest time in which a frame crosses a link */
    uint64_t end_ps;    /* the time limit of the scenario */
    uint64_t in_flight; /* injected flows whose completion has not been given */
    uint32_t hosts;     /* they have the numbers 0 to hosts - 1 */
} floodway_state;

/* A flow whose last byte has arrived. */
typedef struct floodway_completion {
    uint64_t flow;         /* as `floodway_inject` gave it */
    uint64_t user;         /* as `floodway_inject` was given it */
    uint64_t start_ps;     /* the latency after its injection */
    uint64_t completed_ps; /* when its last byte arrived */
} floodway_completion;

/* What came out of a session. */
typedef struct floodway_summary {
    uint64_t simulated_ps;
    uint64_t hops;        /* frames sent on links */
    uint64_t fingerprint; /* of all tables; that of a run with the same flows */
    uint64_t violations;  /* what should not have happened; 0 in a sound run */
} floodway_summary;

/* Opens a session of the scenario in a file. `*session` is null if that fails. */
int floodway_open(const char *path, const floodway_options *options, floodway_session **session);

/* The same for a scenario in a text. */
int floodway_open_text(const char *toml, const floodway_options *options, floodway_session **session);

/* Gives times and numbers of a session. */
int floodway_get_state(floodway_session *session, floodway_state *state);

/* Gives the number of the host of a name. */
int floodway_host(floodway_session *session, const char *name, uint32_t *host);

/* Injects a flow of at least 1 byte between two hosts, now or at a later time. `user` comes back with the completion.
   `flow` may be null. */
int floodway_inject(floodway_session *session, uint32_t source, uint32_t destination, uint64_t bytes, uint64_t at_ps,
                    uint64_t user, uint64_t *flow);

/* Advances to a time. Completions until then wait for `floodway_take`. */
int floodway_advance(floodway_session *session, uint64_t until_ps);

/* Gives the first completion that waits, or FLOODWAY_NONE. Time does not advance. */
int floodway_take(floodway_session *session, floodway_completion *completion);

/* Gives the first completion that waits. If none does, advances to the next completion, or to `until_ps` if that is earlier,
   and then gives FLOODWAY_NONE. Without a limit, FLOODWAY_NONE means that no flow is in flight, or that those that are do
   not complete before the end. */
int floodway_next(floodway_session *session, uint64_t until_ps, floodway_completion *completion);

/* Ends a session and writes its tables as CSV files into a directory, unless that is null. `summary` may be null. */
int floodway_close(floodway_session *session, const char *directory, floodway_summary *summary);

/* Frees a session, closed or not. */
void floodway_free(floodway_session *session);

/* The message of the last call on this thread that failed. It is valid until the next one fails. */
const char *floodway_message(void);

#ifdef __cplusplus
}
#endif

#endif
