// SPDX-License-Identifier: Apache-2.0
/**
 * Connections that are there and say nothing, or a byte a second. Takes minutes: only by
 * `make test-silence`.
 */
import { test } from 'node:test';
import { until } from '../../cluster/until.ts';
import { unended } from '../lab/ended.ts';
import { bench } from './bench.ts';
import { LONG } from './long.ts';

/** Headers are waited for 30 s, a whole answer 60 s, a line of a watch 90 s. */
const PATIENCE_MS = 240_000;
const SOON_MS = 25_000;
const REQUESTS = 12;

test('writes without a response and slow responses delay no other request', LONG, async () => {
  bench.proxy.script.set(
    ['signer', 'pcr-issuer']
      .flatMap((client) =>
        ['nth 2 silence', 'nth 4 mute', 'nth 6 slow'].map(
          (what) => `${client} PUT */status ${what}`,
        ),
      )
      .join('\n'),
  );
  const wanted = await bench.requests(REQUESTS);
  // Those two of each kind that did not land, at most.
  await until('the others are answered', SOON_MS, async () => {
    return (await unended(bench.admin, wanted)).length <= 4;
  });
  await bench.allDelivered(wanted, { patienceMs: PATIENCE_MS });
});

for (const fault of ['silence', 'slow']) {
  test(
    `watches whose lines end in "${fault}" time out and reconnect, nothing is lost`,
    LONG,
    async () => {
      bench.proxy.script.set(
        ['certificatesigningrequests', 'podcertificaterequests']
          .map((plural) => `* LINE ${plural} nth 3 ${fault}`)
          .join('\n'),
      );
      const wanted = await bench.requests(REQUESTS);
      await bench.allDelivered(wanted, { patienceMs: PATIENCE_MS });
    },
  );
}

test(
  'new connections replace ones without a TLS handshake, and nothing is lost',
  LONG,
  async () => {
    bench.proxy.script.set('* CONNECT * first 6 silence');
    bench.proxy.cut();
    await bench.allDelivered(await bench.requests(REQUESTS), { patienceMs: PATIENCE_MS });
  },
);
