// SPDX-License-Identifier: Apache-2.0
/** kill −9 at every step of a request's way, and processes that stand still. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { bench } from './bench.ts';
import { LONG } from './long.ts';

/** Who answers what: component, the subresource that it writes, and the kind that it works on. */
const WRITERS = [
  { client: 'approver', subresource: 'approval', kind: 'csr' },
  { client: 'signer', subresource: 'status', kind: 'csr' },
  { client: 'pcr-issuer', subresource: 'status', kind: 'pcr' },
  { client: 'certificate-request', subresource: 'status', kind: 'cr' },
] as const;
const REQUESTS = 12;

/**
 * Seven seconds each, and the code is that of the signer: of its steps the least certain one is
 * enough for every day.
 */
function optionsOf(client: string, moment?: string): object {
  return client === 'certificate-request' && moment !== 'sent' ? LONG : {};
}

const STEPS = [
  { moment: 'unsent', step: 'before its write arrives' },
  { moment: 'sent', step: 'while its write is under way' },
  { moment: 'answered', step: 'before it hears that its write has landed' },
] as const;

for (const { client, subresource, kind } of WRITERS) {
  for (const { moment, step } of STEPS) {
    const law = `kill −9 of ${client} ${step}: its successor finishes, each is delivered once`;
    test(law, optionsOf(client, moment), async () => {
      const { starts } = bench.component(client);
      bench.proxy.script.set(`${client} PUT */${subresource} nth 3 kill ${moment}`);
      const wanted = await bench.requests(REQUESTS, [kind]);
      // What was signed and could not be sent any more is in vain: as many as were in work at once.
      await bench.allDelivered(wanted, { wasted: client === 'approver' ? 0 : REQUESTS });
      await bench.component(client).restarted(starts);
      assert.equal(bench.component(client).starts, starts + 1);
    });
  }

  const heard = `kill −9 of ${client} when it hears of a request: its successor answers it`;
  test(heard, optionsOf(client), async () => {
    const { starts } = bench.component(client);
    bench.proxy.script.set(`${client} LINE * nth 2 kill sent`);
    await bench.allDelivered(await bench.requests(REQUESTS, [kind]), { wasted: REQUESTS });
    await bench.component(client).restarted(starts);
  });
}

for (const { client, kind } of WRITERS.filter(({ subresource }) => subresource === 'status')) {
  for (const moment of ['before', 'after'] as const) {
    const step = moment === 'before' ? 'when it has decided' : 'when it has signed';
    const law = `kill −9 of ${client} ${step}: its successor decides again, each is delivered once`;
    test(law, optionsOf(client), async () => {
      const { starts } = bench.component(client);
      bench.component(client).tellWhenToDie(`${moment} 3`);
      await bench.allDelivered(await bench.requests(REQUESTS, [kind]), { wasted: REQUESTS });
      await bench.component(client).restarted(starts);
      assert.equal(bench.component(client).starts, starts + 1);
    });
  }

  const still = `a ${client} that stands still in the middle of its writes goes on as if nothing had been`;
  test(still, optionsOf(client), async () => {
    bench.proxy.script.set(`${client} PUT */status nth 2 hold`);
    const wanted = await bench.requests(REQUESTS, [kind]);
    const held = await bench.proxy.held();
    bench.component(client).process.signal('SIGSTOP');
    held.release();
    // How long it stands still is the point: everything that it awaited comes meanwhile.
    await sleep(3_000);
    bench.component(client).process.signal('SIGCONT');
    await bench.allDelivered(wanted);
  });
}
