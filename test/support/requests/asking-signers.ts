// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { Deadline } from '#base/ports.ts';
import { compileOncePerGeneration } from '#component/signers/compile-cache.ts';
import { runInSlices } from '#component/signers/run-in-slices.ts';
import { EvaluationDeferred } from '#component/signers/evaluation-errors.ts';
import { teamSigner } from '../signers/namespaced-signer.ts';

let namespaces = 0;

/** A Signer of a namespace of its own: budgets are a namespace's. */
export function ofNewNamespace(): ClusterSigner {
  namespaces += 1;
  return teamSigner({ namespace: `team-${namespaces}`, uid: `uid-${namespaces}` });
}

/** Compiles a part of a spec once, and evaluates it once for each call, as requests do. */
export function asking<T>(
  compile: (deadline: Deadline) => () => T,
  signer: ClusterSigner,
): (of?: ClusterSigner) => Promise<T> {
  const get = compileOncePerGeneration((_signer: ClusterSigner, deadline) => compile(deadline));
  return (of = signer) => runInSlices(() => Promise.resolve().then(() => get(of)()));
}

/** One request: `run` is what its decision evaluates. */
export function answer<T>(run: (deadline: Deadline) => T, signer: ClusterSigner): Promise<T> {
  return asking((deadline) => () => run(deadline), signer)();
}

/** Why the work is put off; fails where it completes or fails. */
export async function putOffOf(work: () => Promise<unknown>): Promise<EvaluationDeferred> {
  const error = await work().then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof EvaluationDeferred, String(error));
  return error;
}
