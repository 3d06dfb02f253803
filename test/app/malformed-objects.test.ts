// SPDX-License-Identifier: Apache-2.0
/**
 * Objects whose JSON is of other types than the API says: what a broken proxy or another version
 * could hand us. Who decides must not be led by it to say yes to anything else.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decide as approve } from '#requests/approver/decide.ts';
import { decide as answer } from '#requests/certificate-request/decide.ts';
import { decide as issuePod } from '#requests/pcr-issuer/decide.ts';
import { decide as sign } from '#requests/signer/decide.ts';
import { compileIssuerPolicy, compilePolicy } from '#ca/policy/compile-policy.ts';
import { CN, OWN_NAME, made, specOf } from '../ca/policy/request.ts';
import { certificateRequest, servicesOfTeams } from '../support/requests/certificate-request.ts';
import { NOW, openAuthority } from '../support/ca/issuing.ts';
import { podRequest } from '../support/requests/pod-certificate-request.ts';
import { workloadProfile } from '../support/signers/workload-profile.ts';

const { facts } = await openAuthority();
const profile = workloadProfile();
const policy = compilePolicy(specOf(OWN_NAME));
const certificateRequestPolicy = compileIssuerPolicy(servicesOfTeams().spec);
const common = { profile, authority: facts, reservedPrefixes: [], now: NOW };
const { csr } = made({ subject: [[CN, 'jane']], usages: ['client auth'] });
const approved = { ...csr, status: { conditions: [{ type: 'Approved', status: 'True' }] } };

interface Decider {
  readonly object: object;
  readonly decide: (object: never) => { readonly kind: string };
  readonly yes: string;
}

const DECIDERS: Readonly<Record<string, Decider>> = {
  approver: {
    object: csr,
    decide: (object) => approve({ csr: object, policy, reservedPrefixes: [] }),
    yes: 'approve',
  },
  signer: {
    object: approved,
    decide: (object) => sign({ ...common, csr: object }),
    yes: 'issue',
  },
  'certificate-request': {
    object: certificateRequest(),
    decide: (object) =>
      answer({
        ...common,
        request: object,
        policy: certificateRequestPolicy,
      }),
    yes: 'issue',
  },
  'pcr-issuer': {
    object: podRequest(),
    decide: (object) =>
      issuePod({ ...common, request: object, random: (size) => new Uint8Array(size) }),
    yes: 'issue',
  },
};

/** Anything that JSON can say, `__proto__` included. */
const anything = fc
  .json({ maxDepth: 2 })
  .map((text): unknown => JSON.parse(text))
  .filter((value) => value !== undefined);
const odd = fc.oneof(
  anything,
  fc.constantFrom<unknown>(null, true, -1, 1e308, '', [], {}, [[]], ['a'], 'x'.repeat(9999)),
  fc.constant<unknown>(JSON.parse('{"__proto__": {"type": "Approved"}, "length": 3}')),
);

type Path = readonly string[];

function pathsOf(value: unknown, path: Path = []): readonly Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, each]) => pathsOf(each, [...path, key]))];
}

function replaced(value: unknown, [key, ...rest]: Path, by: unknown): unknown {
  if (key === undefined) return by;
  const copy = (
    Array.isArray(value) ? [...(value as unknown[])] : { ...(value as object) }
  ) as Record<string, unknown>;
  copy[key] = replaced(copy[key], rest, by);
  return copy;
}

/** What a yes is about: the leaf, or for the approver the whole plan. Times: see below. */
function granted(plan: object): object {
  const {
    validity: _validity,
    beginRefreshAt: _refresh,
    ...rest
  } = plan as Record<string, unknown>;
  return rest;
}

function assertTimes(plan: object): void {
  const { validity } = plan as { validity?: { notBefore: number; notAfter: number } };
  if (validity === undefined) return;
  const seconds = (validity.notAfter - validity.notBefore) / 1000;
  assert.ok(seconds >= 600 && seconds <= profile.maxDurationSeconds, `${seconds} s`);
}

for (const [name, { object, decide, yes }] of Object.entries(DECIDERS)) {
  test(`${name}: an object with a field of another type is refused or decided the same`, () => {
    const good = decide(object as never);
    assert.equal(good.kind, yes);
    const paths = pathsOf(object).filter(({ length }) => length > 0);
    let said = 0;
    fc.assert(
      fc.property(fc.constantFrom(...paths), odd, (path, by) => {
        const plan = attempted(() => decide(replaced(object, path, by) as never));
        if (plan?.kind !== yes) return;
        said += 1;
        assert.deepEqual(granted(plan), granted(good));
        assertTimes(plan);
      }),
      { numRuns: 3000, seed: 20261121 },
    );
    assert.ok(said > 300, `only ${said} of 3000 were a yes: the property says little`);
  });
}

/** A TypeError is a breakdown: the loop logs it, tries again later and writes nothing. */
function attempted(run: () => { readonly kind: string }): { readonly kind: string } | undefined {
  try {
    return run();
  } catch (error) {
    assert.ok(error instanceof TypeError, String(error));
    return undefined;
  }
}
