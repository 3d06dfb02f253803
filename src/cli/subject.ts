// SPDX-License-Identifier: Apache-2.0
import { SignerError, usageError } from '#base/errors.ts';
import type { Subject } from '#diagnose/explain/lookup/reading.ts';
import { kindNamed, NAMED_KINDS } from '#diagnose/kinds.ts';
import type { Client } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { resource } from '#kube/resource/resource.ts';

const NAMESPACES = resource({ group: '', version: 'v1', plural: 'namespaces' });

/**
 * Parses the object that a user named.
 *
 * @param text - `kind/name`
 * @throws SignerError USAGE for malformed text
 */
export function subjectOf(text: string, namespace: string): Subject {
  const [kind = '', name = '', ...rest] = text.split('/');
  if (kind !== '' && name !== '' && rest.length === 0) return { kind, name, namespace };
  throw usageError(
    `"${text.slice(0, 80)}" names nothing; write kind/name, such as pod/web -n team-a`,
  );
}

/**
 * Returns the error with a hint on the namespace, which users most often forget or misspell. An
 * object of a cluster-scoped kind has none.
 */
export async function withNamespaceHint(
  error: unknown,
  { kind, name, namespace }: Subject,
  client: Client,
): Promise<unknown> {
  if (!(error instanceof KubeError) || error.status !== 404) return error;
  const known = kindNamed(kind);
  const isNamespaced = known === undefined || NAMED_KINDS[known].isNamespaced;
  const where = isNamespaced ? ` (${await namespaceHint(client, namespace)})` : '';
  return new SignerError({
    code: 'KUBE_NOT_FOUND',
    disposition: 'wait',
    message: `there is no ${kind}/${name}${where}`,
    cause: error,
  });
}

async function namespaceHint(client: Client, namespace: string): Promise<string> {
  return (await isMissing(client, namespace))
    ? `the namespace ${namespace} does not exist; kubectl get namespaces lists those that do`
    : `it was looked up in ${namespace}; -n names another`;
}

async function isMissing(client: Client, namespace: string): Promise<boolean> {
  try {
    await client.request({ method: 'GET', path: NAMESPACES.object({ name: namespace }) });
    return false;
  } catch (error) {
    // A user who may not get namespaces gets no hint.
    return error instanceof KubeError && error.status === 404;
  }
}
