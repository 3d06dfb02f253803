// SPDX-License-Identifier: Apache-2.0
/**
 * Components whose clocks are wrong; the API server takes a notBefore of its own ±5 minutes only.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../cluster/until.ts';
import { unended } from '../lab/ended.ts';
import { bench } from './bench.ts';

const MINUTE_MS = 60_000;
const CLIENTS = ['approver', 'signer', 'pcr-issuer'];
const PATIENCE_MS = 60_000;

for (const minutes of [-6, -4, 4, 6]) {
  test(`with a clock ${minutes} min off from the start all requests get the right times`, async () => {
    await under(minutes, 1, async () => {
      await Promise.all(CLIENTS.map(startAnew));
      await bench.allDelivered(await bench.requests(5));
    });
  });
}

for (const minutes of [-6, 6]) {
  test(`a clock steps by ${minutes} min during the work: nothing is signed in vain`, async () => {
    const before = await bench.requests(5);
    await under(minutes, 1, async () => {
      await bench.allDelivered([...before, ...(await bench.requests(10))]);
    });
  });
}

test('a clock runs twice as fast: all requests are answered', async () => {
  await under(0, 2, async () => {
    await bench.allDelivered(await bench.requests(5));
  });
});

test('with a clock 20 min off nothing is signed or refused; corrected, all is answered', async () => {
  const waiting = (client: string): boolean =>
    bench
      .component(client)
      .process.log.some(({ reason, msg }) => reason === 'ClocksApart' && msg === 'request waiting');
  await setClocks(20, 1);
  try {
    const wanted = await bench.requests(5);
    await until('both say why they wait', PATIENCE_MS, () =>
      ['signer', 'pcr-issuer'].every(waiting),
    );
    assert.equal((await unended(bench.admin, wanted)).length, wanted.length);
    await setClocks(0, 1);
    await bench.allDelivered(wanted);
  } finally {
    await setClocks(0, 1);
  }
});

async function setClocks(minutes: number, rate: number): Promise<void> {
  const text = `${minutes * MINUTE_MS} ${rate}`;
  await Promise.all(CLIENTS.map((client) => bench.component(client).setClock(text)));
}

async function under(minutes: number, rate: number, work: () => Promise<void>): Promise<void> {
  await setClocks(minutes, rate);
  try {
    await work();
  } finally {
    await setClocks(0, 1);
  }
}

/** As in a rollout: it gives its Lease back, and nobody has to wait until that runs out. */
async function startAnew(client: string): Promise<void> {
  const component = bench.component(client);
  const { starts } = component;
  await component.process.stop();
  await component.restarted(starts);
}
