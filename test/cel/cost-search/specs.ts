// SPDX-License-Identifier: Apache-2.0
/** Whole specs of Signers, compiled and evaluated as the components do it. */
import { setTimeout } from 'node:timers/promises';
import { readSigner } from '#api/signer/read-signer.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { POD } from '../../support/cel/pod-environment.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { compileProfile } from '#ca/issuance/profile.ts';
import { compileIssuerPolicy } from '#ca/policy/compile-policy.ts';
import { compileOncePerGeneration } from '#component/signers/compile-cache.ts';
import { runInSlices } from '#component/signers/run-in-slices.ts';
import { EvaluationDeferred } from '#component/signers/evaluation-errors.ts';
import { namespacedSigner, teamSpec } from '../../support/signers/namespaced-signer.ts';
import { WORDS, expression, largestOf } from './expressions.ts';
import { threadMs, type Finding } from './measure.ts';
import { longestPause, type Pause } from './pause.ts';
import { pattern } from './patterns.ts';
import { oneOf, type Pick } from './random.ts';

function several(count: number, make: (index: number) => unknown): readonly unknown[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

/** A spec as long as a namespace may write it, of expressions and patterns that took long. */
function specOf(pick: Pick, worst: readonly string[]): Record<string, unknown> {
  const of = (kind: 'POD' | 'NAMESPACED_REQUEST'): string => {
    const words = WORDS[kind];
    if (words === undefined) throw new Error(`no words of ${kind}`);
    const made = expression(pick, words, kind === 'POD' ? [] : worst);
    return made.length > 2_048 ? 'true' : made;
  };
  const pods = {
    allow: of('POD'),
    uris: several(1 + pick(8), () => `(${of('POD')}) ? 'spiffe://a/b' : 'spiffe://a/c'`),
    annotations: several(pick(16), (index) => ({
      key: `example.com/a${index}`,
      pattern: pattern(pick, 3).slice(0, 512),
    })),
  };
  const rules = several(1 + pick(8), (index) => ({
    name: `rule-${index}`,
    when: of('NAMESPACED_REQUEST'),
    allow: { usages: ['client auth'] },
  }));
  return { ...teamSpec(), pods, certificateRequests: { rules } };
}

const profileOf = compileOncePerGeneration((signer: ClusterSigner, deadline) =>
  compileProfile(signer.spec, deadline),
);
const policyOf = compileOncePerGeneration((signer: ClusterSigner, deadline) =>
  compileIssuerPolicy(signer.spec, deadline),
);
/**
 * As many as are served of a namespace: the caches must not hold what the components would have
 * dropped.
 */
const SIGNERS = 32;
let made = 0;

/** A spec, and what one pod has for it. */
interface Subject {
  readonly spec: Record<string, unknown>;
  readonly variables: Readonly<Record<string, unknown>>;
  /** Tried by the patterns of annotations. */
  readonly value: string;
}

/** What one spec held the event loop for, as it was read, compiled, and evaluated for one pod. */
export function trySpec(pick: Pick, worst: readonly string[]): Promise<readonly Finding[]> {
  const spec = specOf(pick, worst);
  return measure({
    spec,
    variables: largestOf(POD, pick),
    value: oneOf(pick, ['ab', 'x']).repeat(2_048),
  });
}

/** Measures a spec as one that was never read: the object is new. */
async function measure(subject: Subject): Promise<readonly Finding[]> {
  const { spec, variables, value } = subject;
  made += 1;
  const name = `team-${made % SIGNERS}`;
  const object = namespacedSigner(spec, { namespace: name, uid: `${name}-${made}` });
  const source = JSON.stringify(spec).slice(0, 2_000);
  const found = (kind: string, pause: Pause): Finding => ({
    kind,
    source,
    ms: pause.ms,
    ratio: 0,
    pause,
    again: async () => {
      const all = await measure(subject);
      return all.find((each) => each.kind === kind) ?? found(kind, { ms: 0, withGarbageMs: 0 });
    },
  });
  let signer: ClusterSigner | SignerError | undefined;
  const reading = threadMs(() => (signer = attempt(() => readSigner(object))));
  const read = found('read a spec', { ms: reading, withGarbageMs: reading });
  if (signer === undefined || signer instanceof SignerError) return [read];
  const known = signer;
  const compile = await longestPause(settled(() => [profileOf(known), policyOf(known)]));
  const evaluate = await longestPause(
    settled(() => {
      const { pods } = profileOf(known);
      return pods?.together(() => [
        attempt(() => pods.allow.evaluate(variables)),
        ...pods.uris.map((uri) => attempt(() => uri.evaluate(variables))),
        ...[...pods.annotations.values()].map((test) => test(value)),
      ]);
    }),
  );
  return [read, found('compile a spec', compile), found('evaluate a spec', evaluate)];
}

/** In turns, until it is done or refused; waits where its namespace has spent its budget. */
async function settled(work: () => unknown): Promise<void> {
  for (let trial = 0; trial < 30; trial += 1) {
    try {
      await runInSlices(async () => {
        await Promise.resolve();
        work();
      });
      return;
    } catch (error) {
      if (error instanceof SignerError) return;
      if (!(error instanceof EvaluationDeferred)) throw error;
      await setTimeout(error.waitMs);
    }
  }
}
