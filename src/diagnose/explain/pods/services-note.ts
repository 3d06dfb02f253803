// SPDX-License-Identifier: Apache-2.0
import type { Pod } from '#api/object/pod.ts';
import { selectsLabels, type Service } from '#api/object/service.ts';
import type { Client } from '#kube/client/client.ts';
import { ignoreNotReadable } from '#kube/client/kube-error.ts';
import { SERVICES } from '#kube/resource/core-v1.ts';
import { listObjects } from '#kube/watch/list-objects.ts';
import { shellWord } from '#base/quote.ts';
import type { SignerView } from '../signer-view.ts';
import type { PodNote } from './pod.ts';

/** Maximum number of Services that a note names. Its command lists all. */
const MAX_NAMED_SERVICES = 3;

/**
 * Returns a note if the leaf should have names of Services, but no Service selects the pod.
 *
 * @returns undefined if a Service selects it, no signer needs Services, or the user may not list
 *   them
 */
export async function unselectedNote(
  client: Client,
  pod: Pod,
  views: readonly SignerView[],
): Promise<PodNote | undefined> {
  const named = views.filter(({ signer }) => signer?.spec.pods?.services !== undefined);
  if (named.length === 0) return undefined;
  const { namespace = '', labels = {} } = pod.metadata;
  const services = await listObjects<Service>(client, SERVICES, { namespace }).catch(
    ignoreNotReadable,
  );
  if (services === undefined) return undefined;
  if (services.some((each) => selectsLabels(each, labels))) return undefined;
  const names = named.map(({ signerName }) => signerName).join(' and ');
  const near = services.filter((each) => isNear(each, labels)).slice(0, MAX_NAMED_SERVICES);
  const [only, ...others] = near;
  return {
    text: [
      `no Service selects the pod, so that its leaf of ${names} has no name of a Service`,
      ...near.map((each) => difference(each, labels)),
    ].join('; '),
    remediation:
      only !== undefined && others.length === 0
        ? `kubectl -n ${shellWord(namespace)} edit service ${shellWord(only.metadata.name)}   # its selector; or correct the labels of the pod`
        : `kubectl get services -n ${shellWord(namespace)} -o wide   # their selectors`,
  };
}

type Labels = Readonly<Record<string, string>>;

/** Reports whether the labels have each key of the selector. Then a value is misspelt. */
function isNear({ spec }: Service, labels: Labels): boolean {
  const keys = Object.keys(spec?.selector ?? {});
  return keys.length > 0 && keys.every((key) => labels[key] !== undefined);
}

/** Describes how the selector of a Service differs from the pod's labels. */
function difference({ metadata, spec }: Service, labels: Labels): string {
  const selector = Object.entries(spec?.selector ?? {});
  const wrong = selector.filter(([key, value]) => labels[key] !== value);
  const wanted = wrong.map(([key, value]) => `${key}=${value}`).join(',');
  const is = wrong.map(([key]) => `${key}=${labels[key] ?? ''}`).join(',');
  return `Service ${metadata.name} selects ${wanted}, and the pod has ${is}`;
}
