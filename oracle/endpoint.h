/* What the parts of the program `endpoint` share. */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <stdint.h>
#include <time.h>

enum { SECOND = 1000000000, CHUNK = 1 << 16 };
extern char chunk[CHUNK];

void fail(const char *what);
int64_t now(clockid_t clock);
void sleep_until(clockid_t clock, int64_t at);
long number(const char *text, long least, long most);
struct sockaddr_in address(const char *name, int port);
void set_control(int fd, const char *control);

/* endpoint-http.c; words are those after the command. */
void http(int port, const char *control);
void page(int count, char **words);
void video(int count, char **words);
