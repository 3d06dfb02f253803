// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import type { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { withIssued } from '#api/request/pod-certificate-request.ts';
import type { Authority } from '#ca/custody/contract.ts';
import { decide as decidePod } from '#requests/pcr-issuer/decide.ts';
import { decide as decideCsr } from '#requests/signer/decide.ts';
import { made } from '../policy/request.ts';
import { random } from '../../support/ca/issuing.ts';
import { podRequest } from '../../support/requests/pod-certificate-request.ts';
import { workloadProfile } from '../../support/signers/workload-profile.ts';
import { SEED, authorityOf, issuedLeaf } from './issued-leaf.ts';

const HOUR = 3600;
const DAY = 24 * HOUR;
/** Of PodCertificateRequest `spec.maxExpirationSeconds` (validation.go): an hour to 91 days. */
const LEAST = 3_600;
const MOST = 7_862_400;
/** managed.ts: a CA begins so long before it is made. */
const CA_BACKDATE = 300;

/** A moment, and a CA with any life before and after it: often almost none. */
const situation = fc.record({
  now: fc.integer({ min: Date.UTC(2026, 0), max: Date.UTC(2055, 0) }),
  age: fc.oneof(
    fc.constant(0),
    fc.integer({ min: 0, max: 600 }),
    fc.integer({ max: 400 * DAY, min: 0 }),
  ),
  left: fc.oneof(
    fc.integer({ min: 1, max: 2 * HOUR }),
    fc.integer({ min: HOUR - 300, max: HOUR + 10 }),
    fc.integer({ min: 1, max: 400 * DAY }),
  ),
  backdate: fc.integer({ min: 0, max: 240 }),
});

type Situation = typeof situation extends fc.Arbitrary<infer T> ? T : never;

const seconds = (least: number, most: number): fc.Arbitrary<number> =>
  fc.oneof(fc.integer({ min: least, max: most }), fc.constantFrom(least, least + 1, most));

function authorityIn({ now, age, left }: Situation): Promise<Authority> {
  return authorityOf({ now, age, durationSeconds: age + left });
}

/** When the CA ends, said once more: whole seconds, counted from the second that it was made in. */
const endOf = ({ now, age, left }: Situation): number =>
  (Math.floor((now - age * 1000) / 1000) + age + left) * 1000;

/** Where a leaf begins, and so how many seconds the CA leaves for one. */
function leftFor(given: Situation): number {
  const second = Math.floor(given.now / 1000);
  const caBegins = Math.floor((given.now - given.age * 1000) / 1000) - CA_BACKDATE;
  return endOf(given) / 1000 - Math.max(second - given.backdate, caBegins);
}

function times(leaf: X509Certificate): { readonly from: number; readonly to: number } {
  return { from: leaf.validFromDate.getTime(), to: leaf.validToDate.getTime() };
}

function holdsIn(given: Situation, leaf: X509Certificate): void {
  const { from, to } = times(leaf);
  assert.ok(from <= given.now && given.now < to, 'notBefore ≤ now < notAfter');
  assert.ok(to <= endOf(given), 'notAfter ≤ CA.notAfter');
  // validation.go, timeNear: an older notBefore is answered with 422.
  assert.ok(given.now - from < 300_000, 'notBefore of the last five minutes');
}

test('a pod gets a leaf within its CA, the API’s limits and its request, or waits', async () => {
  let waited = 0;
  const property = fc.asyncProperty(
    situation,
    seconds(LEAST, MOST),
    seconds(LEAST, MOST),
    fc.integer({ min: 1, max: 99 }),
    async (given, maxExpirationSeconds, maxDuration, percent) => {
      const authority = await authorityIn(given);
      const profile = workloadProfile({
        'authority.managed.duration': `${2 * MOST}s`,
        'profile.maxDuration': `${maxDuration}s`,
        'profile.backdate': `${given.backdate}s`,
        'pods.refreshAfterPercent': percent,
      });
      const request = podRequest({ maxExpirationSeconds });
      const { now } = given;
      const plan = decidePod({
        request,
        profile,
        authority: authority.facts,
        reservedPrefixes: [],
        now,
        random,
      });
      if (leftFor(given) < LEAST) {
        waited += 1;
        assert.ok(plan.kind === 'wait' && plan.error.code === 'VALIDITY_IMPOSSIBLE', plan.kind);
        assert.equal(plan.error.disposition, 'authority');
        return;
      }
      assert.ok(plan.kind === 'issue', JSON.stringify(plan));
      const leaf = await issuedLeaf(authority, { ...plan, usages: profile.usages }, now);
      holdsIn(given, leaf);
      const { from, to } = times(leaf);
      const lifetime = (to - from) / 1000;
      assert.ok(lifetime >= LEAST && lifetime <= Math.min(maxExpirationSeconds, maxDuration));
      // What the status says is what the leaf says, and beginRefreshAt keeps ten minutes from both.
      const { validity, beginRefreshAt } = plan;
      const { status } = withIssued(request, { chainPem: '', beginRefreshAt, ...validity }, now);
      const said = (text = ''): number => Date.parse(text);
      assert.deepEqual([said(status?.notBefore), said(status?.notAfter)], [from, to]);
      const refresh = said(status?.beginRefreshAt);
      assert.ok(refresh - from >= 600_000 && to - refresh >= 600_000, 'beginRefreshAt');
    },
  );
  await fc.assert(property, { numRuns: 400, seed: SEED });
  assert.ok(waited > 40 && waited < 300, `${waited} of 400 waited: the property says little`);
});

test('a CSR gets a leaf within its CA’s validity and requested lifetime, or waits', async () => {
  let waited = 0;
  const property = fc.asyncProperty(
    situation,
    fc.option(seconds(600, 400 * DAY), { nil: undefined }),
    seconds(600, 400 * DAY),
    async (given, expirationSeconds, maxDuration) => {
      const authority = await authorityIn(given);
      const { now } = given;
      const profile = workloadProfile({
        pods: undefined,
        'authority.managed.duration': `${800 * DAY}s`,
        'profile.maxDuration': `${maxDuration}s`,
        'profile.backdate': `${given.backdate}s`,
      });
      const wanted = expirationSeconds === undefined ? {} : { expirationSeconds };
      const csr = {
        ...made(wanted).csr,
        status: { conditions: [{ type: 'Approved', status: 'True' as const }] },
      };
      const { facts } = authority;
      const plan = decideCsr({ csr, profile, authority: facts, reservedPrefixes: [], now });
      if (leftFor(given) < 600) {
        waited += 1;
        assert.ok(plan.kind === 'wait' && plan.error.code === 'VALIDITY_IMPOSSIBLE', plan.kind);
        return;
      }
      assert.ok(plan.kind === 'issue', JSON.stringify(plan));
      const leaf = await issuedLeaf(authority, plan, now);
      holdsIn(given, leaf);
      const { from, to } = times(leaf);
      const lifetime = (to - from) / 1000;
      assert.ok(
        lifetime >= 600 && lifetime <= Math.min(expirationSeconds ?? maxDuration, maxDuration),
      );
    },
  );
  await fc.assert(property, { numRuns: 300, seed: SEED });
  assert.ok(waited > 5 && waited < 150, `${waited} of 300 waited: the property says little`);
});
