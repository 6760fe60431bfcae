/* A session from C: closed form, reaction to a completion, errors, use after close. Prints what is wrong. */
#include "floodway.h"

#include <stdio.h>
#include <string.h>

static int wrong = 0;

#define CHECK(condition)                                                      \
    do {                                                                      \
        if (!(condition)) {                                                   \
            printf("line %d: %s (%s)\n", __LINE__, #condition, floodway_message()); \
            wrong = 1;                                                        \
        }                                                                     \
    } while (0)

static const char *SCENARIO =
    "name = \"two-hosts\"\narrivals = \"1us\"\nlimit = \"1ms\"\ntopology.star.hosts = 2\n"
    "host.congestion = \"line_rate\"\nworkload = [{ permutation.bytes = \"1KB\" }]\n";

/* A full packet of 1024 bytes with 62 of headers, preamble and gap at 100 Gb/s, in picoseconds. */
#define FULL ((1024 + 62 + 20) * 80)

static void says(int code, int expected, const char *text) {
    CHECK(code == expected);
    if (strcmp(floodway_message(), text) != 0) {
        printf("expected: %s\nfound:    %s\n", text, floodway_message());
        wrong = 1;
    }
}

int main(int count, char **arguments) {
    floodway_session *session = NULL;
    floodway_options options = {NULL, NULL, -1, 2000000, 1, 1};
    floodway_completion done;
    floodway_state state;
    floodway_summary summary;
    uint64_t flow = 99;
    uint32_t a = 9, b = 9;
    const char *directory = count > 1 ? arguments[1] : NULL;

    CHECK(floodway_open_text(SCENARIO, &options, &session) == FLOODWAY_OK && session != NULL);
    CHECK(floodway_host(session, "host 0", &a) == FLOODWAY_OK && a == 0);
    CHECK(floodway_host(session, "host 1", &b) == FLOODWAY_OK && b == 1);

    /* Ten full packets over two hops of 200 ns, twice: the second as soon as the first has arrived. */
    CHECK(floodway_inject(session, a, b, 10240, FLOODWAY_NO_TIME, 77, &flow) == FLOODWAY_OK && flow == 0);
    CHECK(floodway_next(session, FLOODWAY_NO_TIME, &done) == FLOODWAY_OK);
    CHECK(done.flow == 0 && done.user == 77 && done.start_ps == 2000000);
    CHECK(done.completed_ps == 2000000 + 11 * FULL + 400000);
    CHECK(floodway_inject(session, b, a, 10240, FLOODWAY_NO_TIME, 78, NULL) == FLOODWAY_OK);
    CHECK(floodway_advance(session, 10000000) == FLOODWAY_OK);
    CHECK(floodway_get_state(session, &state) == FLOODWAY_OK);
    CHECK(state.now_ps == 10000000 && state.in_flight == 1 && state.hosts == 2 && state.end_ps == 1000000000);
    CHECK(state.window_ps == 84 * 80 + 200000 && state.latency_ps == 2000000);
    CHECK(floodway_take(session, &done) == FLOODWAY_OK && done.user == 78);
    CHECK(done.completed_ps == 2 * (2000000 + 11 * FULL + 400000));
    CHECK(floodway_take(session, &done) == FLOODWAY_NONE);
    CHECK(floodway_next(session, FLOODWAY_NO_TIME, &done) == FLOODWAY_NONE);

    says(floodway_inject(session, a, 7, 1, FLOODWAY_NO_TIME, 0, NULL), FLOODWAY_ARGUMENT,
         "there is no host 7: the network has 2 hosts, with the numbers 0 to 1");
    says(floodway_inject(session, a, b, 0, FLOODWAY_NO_TIME, 0, NULL), FLOODWAY_ARGUMENT,
         "a flow of 0 bytes: the size must be at least 1 byte");
    says(floodway_inject(session, a, b, 1, 9999999, 0, NULL), FLOODWAY_ARGUMENT,
         "9999.999ns has passed: the session is at 10us, and the time must not be before that");
    says(floodway_host(session, "leaf 3", &a), FLOODWAY_ARGUMENT,
         "the network has no host `leaf 3`: it has 2 hosts, named as in the topology");
    says(floodway_host(session, NULL, &a), FLOODWAY_ARGUMENT, "`name` is a null pointer");
    says(floodway_next(session, 20000000, NULL), FLOODWAY_ARGUMENT, "`completion` is a null pointer");
    says(floodway_advance(NULL, 1), FLOODWAY_ARGUMENT, "`session` is a null pointer");

    CHECK(floodway_close(session, directory, &summary) == FLOODWAY_OK);
    CHECK(summary.violations == 0 && summary.hops > 40 && summary.fingerprint != 0);
    says(floodway_close(session, NULL, NULL), FLOODWAY_CLOSED, "the session is closed: open another one");
    says(floodway_inject(session, a, b, 1, FLOODWAY_NO_TIME, 0, NULL), FLOODWAY_CLOSED,
         "the session is closed: open another one");
    floodway_free(session);
    floodway_free(NULL);

    session = (floodway_session *)&state;
    options.latency_ps = 1000;
    says(floodway_open_text(SCENARIO, &options, &session), FLOODWAY_ARGUMENT,
         "the host latency of 1ns is shorter than a window of 206.72ns, the shortest time in which a frame crosses a "
         "link: it must be at least 206.72ns");
    CHECK(session == NULL);
    options.replication = -7;
    says(floodway_open_text(SCENARIO, &options, &session), FLOODWAY_ARGUMENT,
         "`replication` is -7: it must be at least 0, or -1 for the only one");
    says(floodway_open_text("\xff", NULL, &session), FLOODWAY_ARGUMENT, "`toml` is not UTF-8");
    CHECK(floodway_open_text("name = 1", NULL, &session) == FLOODWAY_SCENARIO && session == NULL);
    CHECK(strstr(floodway_message(), "<text>") != NULL);
    CHECK(floodway_open("there-is-no-such-file.toml", NULL, &session) == FLOODWAY_SCENARIO);
    if (!wrong) {
        puts("all is well");
    }
    return wrong;
}
