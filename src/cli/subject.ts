// SPDX-License-Identifier: Apache-2.0
import { SignerError, usageError } from '../errors.ts';
import type { Subject } from '../explanations/explain.ts';
import { KubeError } from '../kube/client/kube-error.ts';

/**
 * What a user named.
 *
 * @param text - `kind/name`
 * @throws SignerError USAGE for a text of another shape
 */
export function subjectOf(text: string, namespace: string): Subject {
  const [kind = '', name = '', ...rest] = text.split('/');
  if (kind !== '' && name !== '' && rest.length === 0) return { kind, name, namespace };
  throw usageError(
    `"${text.slice(0, 80)}" names nothing; write kind/name, such as pod/web -n team-a`,
  );
}

/** The error that the user is told: people forget the namespace most. */
export function withNamespaceHint(error: unknown, { kind, name, namespace }: Subject): unknown {
  if (!(error instanceof KubeError) || error.status !== 404) return error;
  return new SignerError({
    code: 'KUBE_NOT_FOUND',
    disposition: 'wait',
    message: `there is no ${kind}/${name} (things with a namespace were looked for in ${namespace}; -n names another)`,
    cause: error,
  });
}
