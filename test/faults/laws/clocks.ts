// SPDX-License-Identifier: Apache-2.0
/** Components whose clocks are wrong; the API server takes a notBefore of its own ±5 minutes only. */
import { test } from 'node:test';
import { bench } from './bench.ts';

const MINUTE_MS = 60_000;
const CLIENTS = ['approver', 'signer', 'pcr-issuer'];

function set(minutes: number, rate: number): void {
  for (const client of CLIENTS)
    bench.component(client).tell('clock', `${minutes * MINUTE_MS} ${rate}`);
}

for (const minutes of [-6, -4, 4, 6]) {
  test(`a clock that is set ${minutes} min: all are delivered`, async () => {
    await under(minutes, 1);
  });
}

test('a clock that runs twice as fast: all are delivered', async () => {
  await under(0, 2);
});

async function under(minutes: number, rate: number): Promise<void> {
  set(minutes, rate);
  try {
    await bench.allDelivered(await bench.requests(5));
  } finally {
    set(0, 1);
  }
}
