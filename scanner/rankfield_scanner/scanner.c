/*
 * The lines of a run, proved and read in one pass over its bytes.
 *
 *     301 Q0 FT911-3 1 9.25 bm25
 *     topic second docno rank score tag
 *
 * A line has six columns of graphic ASCII characters between blanks or tabs, a docno of at most 128
 * bytes, an integer of at most 18 digits as its rank, a decimal as its score, and the tag of the
 * first line. `scan_lines` proves this of every line or says that it cannot; a caller then reads
 * the text in another way. So there are no errors and no messages here.
 *
 * Eight bytes are looked at in one 64-bit word, whose first byte is the lowest. `load` never
 * touches a byte at or after `end`, and is the only place where the text is read by the word.
 * What is written is bounded by `lines` and `width`, which the caller has allotted.
 */

#include <float.h>
#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ || FLT_EVAL_METHOD != 0 || !defined(__SIZEOF_INT128__)
#error "needs little-endian words, doubles that are rounded once, and integers of 128 bits"
#endif

#define INTERFACE 1

enum { WORD = 8, MOST_WORDS = 16, RANK_DIGITS = 18, SCORE_LENGTH = 64, SCORE_DIGITS = 19 };
enum { UNCLEAR = -1 };

#define EACH UINT64_C(0x0101010101010101)
#define HIGH_BITS (0x80 * EACH)
#define LOW_BITS (0x7F * EACH)
#define SPREAD UINT64_C(0x9E3779B97F4A7C15)
#define SPREAD_AGAIN UINT64_C(0x6A09E667F3BCC909)

typedef const uint8_t *place;

/* `evaluation/reading/fast/scanner.py` has the same fields in the same order. */
struct scan {
    place text;           /* `length` bytes, of which the last is a line feed */
    int64_t length;
    int64_t tag;          /* where the tag of the first line begins, which each line has to have */
    int64_t tag_length;
    int64_t lines;        /* how many line feeds the text has, and how long each array is */
    int64_t width;        /* words for each docno */
    int64_t *feeds;       /* where each line feed is */
    int64_t *topic_ends;  /* where each topic ends; it begins with its line */
    int64_t *topics;      /* the first line, and those with another topic than the line above */
    uint64_t *docnos;     /* lines x width words, padded with zeros */
    uint64_t *hashes;     /* of each docno, as `hash_all_words` of `docnos.py` computes them */
    int64_t *ranks;
    double *scores;
    int64_t (*left)[3];   /* line, start and end of the scores that the caller has to read */
    int64_t topic_count;  /* how many of `topics` were written */
    int64_t left_count;   /* how many of `left` were written */
};

static const uint64_t TENS[SCORE_DIGITS + 1] = {
    1u, 10u, 100u, 1000u, 10000u, 100000u, 1000000u, 10000000u, 100000000u, 1000000000u,
    10000000000u, 100000000000u, 1000000000000u, 10000000000000u, 100000000000000u,
    1000000000000000u, 10000000000000000u, 100000000000000000u, 1000000000000000000u,
    10000000000000000000u,
};

/* Powers of ten up to 10^22 are exact as doubles. */
static const double EXACT_TENS[SCORE_DIGITS + 1] = {
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19,
};

/* Eight bytes from `at` on; those from `end` on are zero. */
static inline uint64_t load(place at, place end) {
    uint64_t word = 0;
    if (end - at >= WORD)
        memcpy(&word, at, WORD);
    else
        memcpy(&word, at, (size_t)(end - at));
    return word;
}

/* The first `count` bytes of a word, of which there are at most seven. */
static inline uint64_t first_bytes(uint64_t word, int count) {
    return word & ((UINT64_C(1) << 8 * count) - 1);
}

/* The place of the lowest byte with its high bit set. */
static inline int lowest(uint64_t marks) {
    return __builtin_ctzll(marks) / 8;
}

/* A high bit for each byte that is not graphic: up to the blank, DELETE, and beyond ASCII. */
static inline uint64_t not_graphic(uint64_t word) {
    uint64_t low = word & LOW_BITS;
    uint64_t above_blank = low + (0x80 - 0x21) * EACH;
    return (~above_blank | word | (low + EACH)) & HIGH_BITS;
}

static inline int is_blank(uint8_t byte) {
    return byte == ' ' || byte == '\t';
}

/* Where the graphic characters from `at` on end. */
static inline place token_end(place at, place end) {
    while (at < end) {
        uint64_t marks = not_graphic(load(at, end));
        if (marks)
            return at + lowest(marks);
        at += WORD;
    }
    return end;
}

/* Where the blanks and tabs from `at` on end; NULL if there is none, or nothing after them. */
static inline place gap_end(place at, place end) {
    if (at >= end || !is_blank(*at))
        return NULL;
    do
        at++;
    while (at < end && is_blank(*at));
    return at < end ? at : NULL;
}

/*
 * Write a docno in words, and its hash, and return where it ends. `words` becomes how many it
 * needs, and no more than `width` are written.
 */
static inline place read_docno(place at, place end, uint64_t *docno, int64_t width, uint64_t *hash,
                               int64_t *words) {
    int64_t count = 0;
    uint64_t sum = 0, column = SPREAD_AGAIN;
    int length = WORD;
    for (; at < end && length == WORD; at += length) {
        uint64_t word = load(at, end), marks = not_graphic(word);
        if (marks) {
            length = lowest(marks);
            word = first_bytes(word, length);
        }
        if (!length)
            break;
        if (count < width)
            docno[count] = word;
        word *= SPREAD;
        sum += (word ^ word >> 32) * column;
        column *= SPREAD;
        count++;
    }
    *hash = (sum ^ sum >> 32) * SPREAD;
    *words = count;
    while (count < width)
        docno[count++] = 0;
    return at;
}

/* The number of eight digits, given as bytes from 0 to 9 (Lemire 2018). */
static inline uint64_t spell_digits(uint64_t digits) {
    digits = digits * 10 + (digits >> 8);
    return ((digits & UINT64_C(0x000000FF000000FF)) * (100 + (UINT64_C(1000000) << 32)) +
            (digits >> 16 & UINT64_C(0x000000FF000000FF)) * (1 + (UINT64_C(10000) << 32))) >> 32;
}

/*
 * Read the digits from `at` on one by one, which is the fastest for few of them, and return where
 * they end; NULL if there are more than `most`.
 */
static inline place read_few_digits(place at, place end, int most, uint64_t *number) {
    place start = at;
    uint64_t value = 0;
    for (uint8_t digit; at < end && (digit = *at ^ '0') <= 9; at++)
        value = value * 10 + digit;
    *number = value;
    return at - start <= most ? at : NULL;
}

/*
 * Read the digits from `at` on behind those of `number`, eight at once, and return where they end;
 * NULL if the number would have more than 19 digits, leading zeros aside.
 */
static inline place read_digits(place at, place end, uint64_t *number) {
    while (at < end) {
        uint64_t digits = load(at, end) ^ '0' * EACH;
        /* Adding 0x76 carries into the high bit of each byte above 9. It may also carry out of a
           byte that has it already, but that byte is marked itself, and only the lowest counts. */
        uint64_t marks = ((digits + 0x76 * EACH) | digits) & HIGH_BITS;
        int count = marks ? lowest(marks) : WORD;
        if (!count)
            return at;
        if (*number >= TENS[SCORE_DIGITS - count])
            return NULL;
        *number = *number * TENS[count] + spell_digits(digits << 8 * (WORD - count));
        at += count;
        if (count < WORD)
            return at;
    }
    return at;
}

/* Read an integer of 1 to 18 digits with an optional sign; NULL if there is none. */
static inline place read_rank(place at, place end, int64_t *rank) {
    int is_negative = *at == '-';
    place start = at + (is_negative || *at == '+');
    uint64_t number = 0;
    at = read_few_digits(start, end, RANK_DIGITS, &number);
    if (!at || at == start)
        return NULL;
    *rank = is_negative ? -(int64_t)number : (int64_t)number;
    return at;
}

/*
 * The double nearest to mantissa / 10^decimals, where the mantissa is not 0.
 *
 * Both are shifted until their highest bit is set. Their quotient then has 63 or 64 bits, and its
 * lowest bit is set too where something remains, so that it lies on the same side of every tie
 * between two doubles. It is rounded once, when it becomes a double; powers of two are exact.
 */
static inline double divide_exactly(uint64_t mantissa, int decimals) {
    int up = __builtin_clzll(mantissa), down = __builtin_clzll(TENS[decimals]);
    unsigned __int128 dividend = (unsigned __int128)(mantissa << up) << 63;
    uint64_t divisor = TENS[decimals] << down;
    uint64_t quotient = (uint64_t)(dividend / divisor);
    quotient |= dividend != (unsigned __int128)quotient * divisor;
    int power = down - up - 63;
    uint64_t bits = (uint64_t)(1023 + power) << 52;
    double two_to_power;
    memcpy(&two_to_power, &bits, sizeof bits);
    return (double)quotient * two_to_power;
}

/*
 * Read a number of up to 19 digits with or without a point, and return where it ends; NULL if the
 * score is written in another way, which the caller has to read.
 *
 * Where mantissa and power of ten are both exact as doubles, their quotient is rounded once and so
 * is the nearest double (Clinger 1990).
 */
static inline place read_score(place at, place end, double *score) {
    place start = at;
    int is_negative = *at == '-';
    at += is_negative || *at == '+';
    uint64_t mantissa = 0;
    place whole = at;
    at = read_few_digits(at, end, SCORE_DIGITS, &mantissa);
    if (!at || at == end)
        return NULL;
    int64_t digits = at - whole, decimals = 0;
    if (*at == '.') {
        place fraction = at + 1;
        at = read_digits(fraction, end, &mantissa);
        if (!at || at == end)
            return NULL;
        decimals = at - fraction;
        digits += decimals;
    }
    if (!digits || decimals > SCORE_DIGITS || at - start > SCORE_LENGTH || !is_blank(*at))
        return NULL;
    double value = mantissa >> 53 ? divide_exactly(mantissa, (int)decimals)
                                  : (double)mantissa / EXACT_TENS[decimals];
    *score = is_negative ? -value : value;
    return at;
}

/*
 * Read the line at `at` and return its line feed; NULL if it is not proved. `head` is where the
 * docno of the line above began, counted from the start of its line; 0 for the first line.
 */
static inline place read_line(struct scan *scan, int64_t line, place at, int64_t *head,
                              int64_t *words) {
    place text = scan->text, end = text + scan->length, start = at;
    place above = line > 1 ? text + scan->feeds[line - 2] + 1 : text;
    if (line && end - at > *head && !memcmp(above, at, (size_t)*head)) {
        scan->topic_ends[line] = scan->topic_ends[line - 1] + (start - above);
        at += *head;
    } else {
        at = token_end(start, end);
        int64_t length = at - start;
        if (!length)
            return NULL;
        int is_same = line && scan->topic_ends[line - 1] - (above - text) == length &&
                      !memcmp(above, start, (size_t)length);
        if (!is_same)
            scan->topics[scan->topic_count++] = line;
        scan->topic_ends[line] = at - text;
        place second = gap_end(at, end);
        if (!second || (at = token_end(second, end)) == second || !(at = gap_end(at, end)))
            return NULL;
        *head = at - start;
    }
    place docno = at;
    at = read_docno(docno, end, scan->docnos + line * scan->width, scan->width,
                    &scan->hashes[line], words);
    if (at == docno || *words > MOST_WORDS || !(at = gap_end(at, end)))
        return NULL;
    if (!(at = read_rank(at, end, &scan->ranks[line])) || !(at = gap_end(at, end)))
        return NULL;
    place score = at;
    at = read_score(score, end, &scan->scores[line]);
    if (!at) {
        at = token_end(score, end);
        int64_t *left = scan->left[scan->left_count++];
        left[0] = line, left[1] = score - text, left[2] = at - text;
    }
    at = gap_end(at, end);
    if (!at || end - at <= scan->tag_length || memcmp(at, text + scan->tag, (size_t)scan->tag_length))
        return NULL;
    at += scan->tag_length;
    while (at < end && is_blank(*at))
        at++;
    return at < end && *at == '\n' ? at : NULL;
}

int64_t interface_of_scanner(void) {
    return INTERFACE;
}

/* How many line feeds a text has. */
int64_t count_lines(place text, int64_t length) {
    int64_t count = 0;
    while (length) {
        /* Few enough for a byte, so that compilers count many bytes at once. */
        int64_t part = length < 255 ? length : 255;
        uint8_t found = 0;
        for (int64_t at = 0; at < part; at++)
            found += text[at] == '\n';
        count += found;
        text += part;
        length -= part;
    }
    return count;
}

/*
 * Read all lines of a text, and return how many words its longest docno needs; UNCLEAR if a line
 * is not proved. If it needs more words than `width`, docnos are cut, and a caller scans again.
 */
int64_t scan_lines(struct scan *scan) {
    place at = scan->text, end = at + scan->length;
    int64_t head = 0, widest = 1;
    scan->topic_count = scan->left_count = 0;
    for (int64_t line = 0; line < scan->lines; line++) {
        int64_t words;
        if (at >= end || !(at = read_line(scan, line, at, &head, &words)))
            return UNCLEAR;
        scan->feeds[line] = at++ - scan->text;
        if (words > widest)
            widest = words;
    }
    return at == end ? widest : UNCLEAR;
}
