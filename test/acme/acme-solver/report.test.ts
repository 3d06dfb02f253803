// SPDX-License-Identifier: Apache-2.0
/** What a solver says of its work in the status of a Challenge. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Challenge } from '#api/acme/challenge.ts';
import type { SolverOutcome } from '#acme/solving/solver.ts';
import { report } from '#acme/acme-solver/report.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';

const challenge = {
  apiVersion: 'acme.countersign.dev/v1alpha1',
  kind: 'Challenge',
  metadata: { namespace: 'team-a', name: 'web-1', uid: 'u' },
} as Challenge;

/**
 * Of a provider, a DNS server or an API behind the API server: all bytes of it are somebody else's.
 */
const RAW = 'x\u001b[31m\u202e\u200b\r\nforged: y';

async function statusAfter(outcome: SolverOutcome): Promise<string> {
  const sent: string[] = [];
  const component = recordedComponent({ name: 'acme-solver' });
  const client = {
    clockOffset: () => 0,
    request: ({ body }: { readonly body: string }) => {
      sent.push(body);
      return Promise.resolve(challenge);
    },
  };
  await report({ ...component, client } as never, challenge, {
    task: 'present',
    outcome,
    waitMs: 0,
  });
  const { status } = JSON.parse(sent[0] ?? '') as {
    readonly status: { readonly solver: { readonly message?: string; readonly at?: string } };
  };
  return status.solver.message ?? status.solver.at ?? '';
}

for (const [what, outcome, limit] of [
  ['why it failed', { kind: 'problem', reason: 'A', message: RAW }, 4096],
  ['where it is', { kind: 'done', at: RAW }, 1024],
] as const) {
  test(`${what} has no character that a terminal interprets`, async () => {
    assert.equal(
      await statusAfter(outcome),
      String.raw`x\u{1b}[31m\u{202e}\u{200b}\u{d}\u{a}forged: y`,
    );
  });

  test(`${what} has room in the status, whatever bytes its characters have`, async () => {
    const long = 'é'.repeat(10_000);
    const text = await statusAfter(
      outcome.kind === 'done' ? { kind: 'done', at: long } : { ...outcome, message: long },
    );
    assert.ok(Buffer.byteLength(text) <= limit && text.length > limit / 3);
  });
}
