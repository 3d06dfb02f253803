// SPDX-License-Identifier: Apache-2.0
/** What a member reports to its hub, and how often it calls. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { REPORT_INTERVAL_MS } from '#api/signer/fleet-member.ts';
import type { Condition } from '#api/request/conditions.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { reportToHubs } from '#trust/authority/upstream/hub/report.ts';
import { NOW } from '../../support/ca/issuing.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';
import { recordedClient, type RecordedClient } from '../../support/kube/recorded-client.ts';
import { workload } from '../../support/signers/workload-profile.ts';
import {
  CLAIMS,
  GOOD,
  HOUR,
  jwt,
  seconds,
  secretOf,
} from '../../support/trust/member-credential.ts';

const csr = {
  signerName: 'fleet.example.com/members',
  cluster: 'prod',
  bundle: 'root',
  rootFingerprint: `sha256:${'a'.repeat(64)}`,
  trustEverythingBelow: true,
};
const FINGERPRINT = `sha256:${'b'.repeat(64)}`;
const ANCHOR = `sha256:${'c'.repeat(64)}`;

function memberWith(...conditions: readonly Partial<Condition>[]): ClusterSigner {
  const times = { notBefore: '2026-06-01T00:00:00Z', notAfter: '2026-07-01T00:00:00Z' };
  const status = {
    conditions: conditions as readonly Condition[],
    authorities: [
      { fingerprint: FINGERPRINT, phase: 'Active' as const, longestLeaf: '24h', ...times },
    ],
  };
  return { ...workload({ 'authority.managed.upstream': { csr } }), status };
}

const READY = { type: 'Ready', status: 'True', reason: 'Checked', message: 'signing' } as const;

interface Stage {
  readonly remote: RecordedClient;
  readonly log: () => string;
  /** Lets the member look once at each of these times, in milliseconds from the start. */
  readonly lookAt: (...times: readonly number[]) => Promise<void>;
  signer: ClusterSigner;
}

function stage(credential: Readonly<Record<string, string>> = GOOD): Stage {
  let now = NOW;
  const component = recordedComponent({ name: 'authority', clock: () => now });
  component.client.answer(() => secretOf(credential));
  const remote = recordedClient();
  const at: Stage = {
    remote,
    log: () => JSON.stringify(component.log.lines),
    signer: memberWith(READY),
    lookAt: async (...times) => {
      const stopped = new AbortController();
      const coming = times.values();
      const delay = (): Promise<void> => {
        const next = coming.next();
        if (next.done === true) stopped.abort();
        else now = NOW + next.value;
        return Promise.resolve();
      };
      const init = {
        ...component,
        connect: () => remote,
        delay,
        version: '1.2.3',
        signers: () => [at.signer],
        anchorsOf: () => [ANCHOR],
      };
      await reportToHubs(init, stopped.signal);
    },
  };
  return at;
}

const MINUTE = 60_000;

test('a member writes the status of its own object, and nothing else', async () => {
  const { lookAt, remote } = stage();
  await lookAt();
  const [only, ...others] = remote.requests;
  assert.deepEqual(others, []);
  assert.equal(only?.method, 'PATCH');
  assert.equal(
    only.path,
    '/apis/countersign.dev/v1alpha1/namespaces/countersign-fleet/fleetmembers/prod/status',
  );
  assert.deepEqual(only.body, {
    status: {
      version: '1.2.3',
      authority: { fingerprint: FINGERPRINT, notAfter: '2026-07-01T00:00:00Z' },
      anchors: [ANCHOR],
      // A problem of an earlier report goes away.
      waitsFor: null,
      reportedAt: new Date(NOW).toISOString().replace('.000Z', 'Z'),
    },
  });
});

test('a member without changes calls its hub once an hour', async () => {
  const { lookAt, remote } = stage();
  await lookAt(MINUTE, REPORT_INTERVAL_MS - 1, REPORT_INTERVAL_MS, REPORT_INTERVAL_MS + MINUTE);
  assert.equal(remote.requests.length, 2);
});

test('a report by a clock that was ahead does not delay the next one', async () => {
  const { lookAt, remote } = stage();
  await lookAt(3 * REPORT_INTERVAL_MS, MINUTE, 2 * MINUTE);
  assert.equal(remote.requests.length, 3);
});

test('a change is reported at the next look', async () => {
  const at = stage();
  const init = at.lookAt(MINUTE);
  at.signer = memberWith({ ...READY, status: 'False', message: 'its key is lost' });
  await init;
  assert.deepEqual(
    at.remote.requests.map(
      ({ body }) => (body as { status: { waitsFor: unknown } }).status.waitsFor,
    ),
    [null, 'its key is lost'],
  );
});

test('a hub that fails is called less and less often, whatever changes', async () => {
  const at = stage({ ...GOOD, token: jwt({ ...CLAIMS, exp: seconds + 1_000 * HOUR }) });
  at.remote.answer(({ path }) => {
    throw new KubeError({ status: 503, what: path });
  });
  await at.lookAt(...Array.from({ length: 24 * 60 }, (_, minute) => (minute + 1) * MINUTE));
  assert.ok(at.remote.requests.length <= 60, String(at.remote.requests.length));
  assert.equal(at.log().match(/cannot report to the hub/g)?.length, 1);
});

test('no part of the token gets into the log, whatever the hub answers', async () => {
  const at = stage();
  at.remote.answer(() => {
    throw new KubeError({ status: 403, what: 'x', body: { message: GOOD.token } });
  });
  await at.lookAt();
  assert.match(at.log(), /cannot report to the hub/);
  assert.ok(!at.log().includes(GOOD.token.slice(0, 40)));
});

test('an unusable credential is a line of the log, and no call', async () => {
  const at = stage({ ...GOOD, server: 'http://hub' });
  await at.lookAt();
  assert.deepEqual(at.remote.requests, []);
  assert.match(at.log(), /server is not https/);
});

test('the most urgent problem of a signer is reported, cut to its limit', async () => {
  const due = { type: 'RotationDue', status: 'True', reason: 'Age', message: 'due' } as const;
  const lost = { ...READY, status: 'False', message: 'x'.repeat(2_000) } as const;
  const problems: readonly (readonly [ClusterSigner, string | null])[] = [
    [memberWith(READY), null],
    [memberWith(READY, due), 'due'],
    [memberWith(lost, due), 'x'.repeat(1_024)],
  ];
  for (const [signer, waitsFor] of problems) {
    const at = stage();
    at.signer = signer;
    await at.lookAt();
    const { status } = at.remote.requests[0]?.body as { readonly status: { waitsFor: unknown } };
    assert.equal(status.waitsFor, waitsFor);
  }
});
