// SPDX-License-Identifier: Apache-2.0
/** How checkpoints leave the cluster: what is sent, what is tried again, and what is said of it. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import type { HttpCall, HttpAnswer } from '#base/egress/exchange.ts';
import type { NoAnswer } from '#base/egress/no-answer.ts';
import type { Destination, PublishOutcome } from '#ledger/ledger/publishing/destination.ts';
import { createPublisher } from '#ledger/ledger/publishing/index.ts';
import { objectStore } from '#ledger/ledger/publishing/object-store.ts';
import { webhook } from '#ledger/ledger/publishing/webhook.ts';
import type { StoredLog } from '#ledger/index.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';

const log: StoredLog = {
  number: 1,
  origin: 'countersign.example/ledger/2026',
  size: 7,
  latest: 0,
  publicKey: new Uint8Array(32).fill(7),
};
const NOTE = `${log.origin}\n7\nAAAA\n\n— ${log.origin} c2ln\n`;
const checkpoint = { log, size: 7, note: NOTE };
const never = new AbortController().signal;

/** An exchange that answers with these, and keeps what it was asked. */
function answering(...answers: readonly (number | NoAnswer)[]): {
  readonly calls: HttpCall[];
  readonly send: (call: HttpCall) => Promise<HttpAnswer | NoAnswer>;
} {
  const calls: HttpCall[] = [];
  return {
    calls,
    send: (call) => {
      const answer = answers[calls.length] ?? 200;
      calls.push(call);
      const body = Buffer.from('');
      return Promise.resolve(
        typeof answer === 'number' ? { status: answer, headers: {}, body } : answer,
      );
    },
  };
}

const SECRET = `whsec_${Buffer.from('a secret of the webhook').toString('base64')}`;

test('a webhook gets the note, signed; the same checkpoint has the same id', async () => {
  const exchange = answering(500, 204);
  const url = new URL('https://hooks.example.com/x?y=z');
  const place = webhook({
    url,
    exchange,
    clock: () => 1_000_000_500,
    readSecret: () => Promise.resolve(`${SECRET}\n`),
  });
  assert.equal((await place.publish(checkpoint, never)).kind, 'failed');
  assert.deepEqual(await place.publish(checkpoint, never), { kind: 'taken' });
  const [first, second] = exchange.calls;
  assert.equal(first?.headers?.['webhook-id'], second?.headers?.['webhook-id']);
  assert.equal(second?.body, NOTE);
  assert.equal(second.url, url.href);
  const { 'webhook-id': id = '', 'webhook-timestamp': time = '' } = second.headers ?? {};
  assert.equal(time, '1000000');
  const expected = createHmac('sha256', 'a secret of the webhook').update(`${id}.${time}.${NOTE}`);
  assert.equal(second.headers?.['webhook-signature'], `v1,${expected.digest('base64')}`);
});

test('sends nothing to a webhook while its secret is written, not even unsigned', async () => {
  const exchange = answering();
  const place = webhook({
    url: new URL('https://hooks.example.com'),
    exchange,
    clock: () => 0,
    readSecret: () => Promise.resolve(''),
  });
  assert.equal((await place.publish(checkpoint, never)).kind, 'failed');
  assert.deepEqual(exchange.calls, []);
});

test('an object is PUT to the URL that its file has now, with the fields below it', async () => {
  const exchange = answering();
  const files = ['https://a.example/1?sig=x\n', 'https://b.example/2\nx-ms-blob-type: BlockBlob\n'];
  const place = objectStore({ exchange, readPlace: () => Promise.resolve(files.shift() ?? '') });
  for (const kind of ['taken', 'taken', 'failed'])
    assert.equal((await place.publish(checkpoint, never)).kind, kind);
  assert.deepEqual(
    exchange.calls.map(({ method, url }) => `${method} ${url}`),
    ['PUT https://a.example/1?sig=x', 'PUT https://b.example/2'],
  );
  assert.equal(exchange.calls[1]?.headers?.['x-ms-blob-type'], 'BlockBlob');
});

test('a pre-signed URL, which is a credential, is in no word about it', async () => {
  const redirect: NoAnswer = {
    kind: 'transport',
    cause: 'redirect',
    mayHaveArrived: true,
    detail: 'the server redirects (301) to "https://other.example/?sig=secret"',
  };
  for (const answer of [redirect, 403, 500] as const) {
    const place = objectStore({
      exchange: answering(answer),
      readPlace: () => Promise.resolve('https://a.example/?sig=secret'),
    });
    const outcome = await place.publish(checkpoint, never);
    assert.ok(
      outcome.kind === 'failed' && !outcome.why.includes('secret'),
      JSON.stringify(outcome),
    );
  }
});

/** A publisher whose pauses end when a test says so. */
function published(
  outcomes: readonly PublishOutcome[],
  more: { readonly leads?: () => boolean } = {},
): {
  readonly component: ReturnType<typeof recordedComponent>;
  readonly publisher: ReturnType<typeof createPublisher>;
  readonly asked: number[];
  readonly cosigned: string[];
  /** Sizes of what was published with the line of a witness. */
  readonly told: number[];
  /** Ends a pause, and returns the next one's length in milliseconds. */
  readonly next: () => Promise<number>;
  readonly end: () => Promise<void>;
} {
  const [asked, cosigned, told]: [number[], string[], number[]] = [[], [], []];
  let paused = Promise.withResolvers<number>();
  let resume: () => void = () => undefined;
  const component = recordedComponent({
    delay: (ms, signal) =>
      new Promise((resolve) => {
        resume = resolve;
        signal?.addEventListener('abort', () => resolve());
        paused.resolve(ms);
      }),
  });
  const destination: Destination = {
    name: 'witness/a',
    publish: ({ size }) => {
      asked.push(size);
      return Promise.resolve(outcomes[asked.length - 1] ?? { kind: 'taken' });
    },
  };
  const publisher = createPublisher({
    component,
    destinations: [destination],
    intervalSeconds: 60,
    leads: () => true,
    store: {
      logs: () => Promise.resolve([log]),
      checkpoint: () => Promise.resolve(NOTE),
      cosign: (_, line) => Promise.resolve(void cosigned.push(line)),
    },
    onCosigned: ({ size }) => Promise.resolve(void told.push(size)),
    ...more,
  });
  const stop = new AbortController();
  const running = publisher.run(stop.signal);
  return {
    component,
    publisher,
    asked,
    cosigned,
    told,
    next: async () => {
      const pause = await paused.promise;
      paused = Promise.withResolvers();
      resume();
      return pause;
    },
    end: async () => {
      stop.abort();
      await running;
    },
  };
}

test('retries a place with backoff until it accepts, then never again', async () => {
  const failed: PublishOutcome = { kind: 'failed', why: 'it answers 500' };
  const { next, end, asked, publisher, component, cosigned, told } = published([
    failed,
    failed,
    failed,
    { kind: 'taken', cosignature: '— a b\n' },
  ]);
  const pauses: number[] = [];
  for (let at = 0; at < 3; at += 1) {
    pauses.push(await next());
    if (at === 0) assert.match(publisher.warnings().join(), /witness\/a lacks the last.*500/);
  }
  const [first = 0, , third = 0] = pauses;
  assert.ok(first >= 5000 && third > first, String(pauses));
  assert.equal(await next(), 60_000, 'the interval');
  assert.equal(await next(), 60_000, 'idle');
  assert.deepEqual(asked, [7, 7, 7, 7]);
  assert.deepEqual(publisher.warnings(), []);
  assert.deepEqual(cosigned, ['— a b\n']);
  assert.deepEqual(told, [7]);
  const states = component.counted.filter(([, labels]) => isOf(labels, 'witness/a'));
  const since = component.clock() / 1000;
  assert.deepEqual(
    states.slice(-5).map(([name, , value]) => [name, value]),
    [
      ['unpublished', since],
      ['contradicted', 0],
      ['published', since],
      ['unpublished', 0],
      ['contradicted', 0],
    ],
  );
  // Said once, not each time.
  assert.equal(component.log.lines.length, 1);
  await end();
});

test('a witness that knows another past is an error, not a warning', async () => {
  const { next, end, component } = published([{ kind: 'contradicted', why: 'it was rewritten' }]);
  await next();
  assert.equal(component.log.lines[0]?.level, 'error');
  const [name, , value] = component.counted.at(-1) ?? [];
  assert.deepEqual([name, value], ['contradicted', 1]);
  await end();
});

test('who does not lead publishes nothing', async () => {
  const { next, end, asked } = published([], { leads: () => false });
  await next();
  await next();
  assert.deepEqual(asked, []);
  await end();
});

function isOf(labels: unknown, destination: string): boolean {
  return (labels as { destination?: string } | undefined)?.destination === destination;
}

test('a place that a new leader serves is no fault of the former one', async () => {
  let leads = true;
  const contradicted: PublishOutcome = { kind: 'contradicted', why: 'it was rewritten' };
  const { next, end, publisher, component } = published([contradicted, contradicted], {
    leads: () => leads,
  });
  await next();
  assert.match(publisher.warnings().join(), /it was rewritten/);
  leads = false;
  await next();
  await next();
  assert.deepEqual(publisher.warnings(), []);
  const last = (metric: string): unknown =>
    component.counted.findLast(([name]) => name === metric)?.[2];
  assert.deepEqual([last('unpublished'), last('contradicted')], [0, 0]);
  await end();
});
