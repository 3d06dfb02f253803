// SPDX-License-Identifier: Apache-2.0
/** Answers of DNS servers as octets: compressed names, records of all types, and attacks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import packet from 'dns-packet';
import { decodeAnswer, type DnsAnswer } from '#acme/solving/dns/message.ts';
import { signMessage } from '#acme/solving/dns/tsig.ts';
import { encodeName, uint16s } from '#acme/solving/dns/update.ts';

const HEADER_OCTETS = 12;
const [A, NS, CNAME, SOA, TXT, RP, AAAA, OPT, PRIVATE] = [1, 2, 5, 6, 16, 17, 28, 41, 65_280];
/** maxCompressionPointers of miekg/dns: (255 + 1) / 2 - 2. */
const MAX_POINTERS = 126;

type Sections = Partial<Record<'answers' | 'authority' | 'additional', readonly Buffer[]>>;

/** An authoritative response with these records and no question. */
function response({ answers = [], authority = [], additional = [] }: Sections): Buffer {
  const counts = [answers, authority, additional].map(({ length }) => length);
  return Buffer.concat([uint16s(1, 0x8400, 0, ...counts), ...answers, ...authority, ...additional]);
}

function record(owner: Buffer, type: number, data: Buffer, recordClass = 1): Buffer {
  return Buffer.concat([owner, uint16s(type, recordClass, 0, 60, data.length), data]);
}

function pointer(offset: number): Buffer {
  return uint16s(0xc000 | offset);
}

const ROOT = encodeName('');

/** A record of an unknown type whose data are the root, then pointers each to the one before. */
function chain(pointers: number): { readonly first: Buffer; readonly last: Buffer } {
  const start = HEADER_OCTETS + record(ROOT, PRIVATE, Buffer.alloc(0)).length;
  const at = (index: number): number => (index === 0 ? start : start + 2 * index - 1);
  const data = Array.from({ length: pointers }, (_each, index) => pointer(at(index)));
  return {
    first: record(ROOT, PRIVATE, Buffer.concat([ROOT, ...data])),
    last: pointer(at(pointers)),
  };
}

function answerOf(message: Buffer): DnsAnswer {
  const answer = decodeAnswer(message);
  assert.ok(answer.kind === 'answer', JSON.stringify(answer));
  return answer;
}

function problemOf(message: Buffer): string {
  const answer = decodeAnswer(message);
  return answer.kind === 'none' ? answer.problem : answer.kind;
}

test('a name is followed through 126 pointers, and no further, as in miekg/dns', () => {
  const withPointers = (pointers: number): Buffer => {
    const { first, last } = chain(pointers - 1);
    return response({ answers: [first, record(ROOT, CNAME, last)] });
  };
  const { answers } = answerOf(withPointers(MAX_POINTERS));
  assert.deepEqual(answers, [{ name: '', type: 'CNAME', value: '' }]);
  const problem = 'sends no DNS message: "a name has too many compression pointers"';
  assert.equal(problemOf(withPointers(MAX_POINTERS + 1)), problem);
  const { first, last } = chain(MAX_POINTERS);
  const owned = record(last, TXT, Buffer.from('\x01v'));
  assert.equal(problemOf(response({ authority: [first, owned] })), problem);
});

test('an answer with 256 records in a section is read, and one with more is refused', () => {
  const records = Array<Buffer>(256).fill(record(ROOT, TXT, Buffer.from('\x01v')));
  assert.equal(answerOf(response({ answers: records, authority: records })).answers.length, 256);
  const more = [...records, record(ROOT, RP, Buffer.from([0, 0]))];
  for (const section of ['answers', 'authority'])
    assert.equal(
      problemOf(response({ [section]: more })),
      'sends no DNS message: "a section has more than 256 records"',
    );
});

test('names in records of types or classes that no solver queries are not read', () => {
  const { first, last } = chain(MAX_POINTERS);
  const unread = [first, record(last, RP, last), record(ROOT, RP, pointer(0x3fff))];
  const chaos = record(last, CNAME, last, 3);
  const value = record(encodeName('a.example'), TXT, Buffer.from('\x01v'));
  const { answers, authority } = answerOf(
    response({ answers: [...unread, value], authority: [chaos], additional: [chaos] }),
  );
  assert.deepEqual(answers, [{ name: 'a.example', type: 'TXT', value: 'v' }]);
  assert.deepEqual(authority, []);
});

test('the compressed names of RFC 1035 §4.1.4 are read', () => {
  // F.ISI.ARPA at 12 + 11, and the others by pointers to it.
  const first = record(ROOT, NS, encodeName('F.ISI.ARPA'));
  const at = HEADER_OCTETS + 11;
  const foo = Buffer.concat([Buffer.from('\x03FOO'), pointer(at)]);
  const { answers } = answerOf(
    response({ answers: [first, record(foo, NS, pointer(at + 6)), record(pointer(at), NS, ROOT)] }),
  );
  assert.deepEqual(answers, [
    { name: '', type: 'NS', value: 'f.isi.arpa' },
    { name: 'foo.f.isi.arpa', type: 'NS', value: 'arpa' },
    { name: 'f.isi.arpa', type: 'NS', value: '' },
  ]);
});

test('each queried type is read beside EDNS and TSIG records', () => {
  const owner = encodeName('A.Example');
  const soa = [encodeName('NS.Example'), encodeName('admin.example'), Buffer.alloc(20)];
  const long = 'x'.repeat(255);
  const strings = Buffer.from(`\xff${long}\x00\x02\xe9!`, 'latin1');
  const answers = [
    record(owner, A, Buffer.from([192, 0, 2, 1])),
    record(owner, AAAA, Buffer.from('20010db8000000000000000000000001', 'hex')),
    record(owner, TXT, strings),
    record(owner, TXT, Buffer.alloc(0)),
  ];
  const authority = [record(owner, SOA, Buffer.concat(soa))];
  const plain = response({
    answers,
    authority,
    additional: [record(ROOT, OPT, Buffer.alloc(0), 1232)],
  });
  const key = { name: 'k', algorithm: 'HMAC-SHA256', secret: Buffer.alloc(32) } as const;
  for (const message of [plain, signMessage(plain, key, 1).message]) {
    const answer = answerOf(message);
    assert.deepEqual(
      answer.answers.map(({ value }) => value),
      ['192.0.2.1', '2001:db8::1', `${long}\xe9!`, ''],
    );
    assert.deepEqual(answer.authority, [{ name: 'a.example', type: 'SOA', value: 'ns.example' }]);
    assert.ok(answer.authoritative && !answer.truncated && !answer.recursionAvailable);
  }
});

test('flags and response codes have the names that dns-packet gives', () => {
  for (let flags = 0x8000; flags <= 0xffff; flags += 7) {
    const header = uint16s(1, flags, 0, 0, 0, 0);
    const theirs = packet.decode(header);
    const { rcode, authoritative, truncated, recursionAvailable } = answerOf(header);
    assert.deepEqual(
      { rcode, flag_aa: authoritative, flag_tc: truncated, flag_ra: recursionAvailable },
      {
        rcode: 'rcode' in theirs && theirs.rcode,
        flag_aa: theirs.flag_aa,
        flag_tc: theirs.flag_tc,
        flag_ra: theirs.flag_ra,
      },
    );
  }
});

test('a malformed name, address, or string is a problem of the server', () => {
  const answers = (type: number, data: Buffer, owner = ROOT): Buffer =>
    response({ answers: [record(owner, type, data)] });
  const name = (length: number): Buffer => encodeName(Array(length).fill('a').join('.'));
  assert.equal(answerOf(answers(NS, name(127))).answers[0]?.value.length, 253);
  const here = HEADER_OCTETS + 11;
  for (const [message, fault] of [
    [answers(NS, name(128)), 'a name is too long'],
    [answers(NS, pointer(here)), 'a compression pointer leads to no earlier name'],
    [answers(NS, pointer(here + 2)), 'a compression pointer leads to no earlier name'],
    [answers(NS, Buffer.from('\x01a\xc0', 'latin1')), 'it ends too early'],
    [answers(NS, Buffer.from('\x05abc')), 'it ends too early'],
    [answers(NS, Buffer.from('\x40a')), 'a label has another type'],
    [answers(A, Buffer.alloc(16)), 'a record of type A has no address'],
    [answers(AAAA, Buffer.alloc(4)), 'a record of type AAAA has no address'],
    [answers(TXT, Buffer.from('\x02v')), 'a string is longer than its TXT record'],
    [answers(TXT, Buffer.from('\x01v')).subarray(0, -1), 'it ends too early'],
    [Buffer.alloc(11), 'it ends too early'],
  ] as const)
    assert.equal(problemOf(message), `sends no DNS message: "${fault}"`);
});

test('a dot within a label separates no labels', () => {
  const owner = Buffer.from('\x09a.example\x03a\\b\x00');
  const { answers } = answerOf(response({ answers: [record(owner, TXT, Buffer.from('\x01v'))] }));
  assert.equal(answers[0]?.name, 'a\\.example.a\\\\b');
});
