// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '#api/object/object.ts';
import { membersOf } from '#base/record.ts';
import { INJECT, NAMESPACE_OPTED_IN } from '#install/admission/injection/profiles.ts';
import type { Client } from '#kube/client/client.ts';
import { ANNOTATION_PREFIX, type AnnotatedObject } from '#operations/pods/unread-annotations.ts';
import type { ReadResult } from '../finding.ts';
import { listVisible } from './list-visible.ts';

/** The labels by which a namespace opts in to injection and to restarts. */
const OPTED_IN = [`${INJECT}=${NAMESPACE_OPTED_IN}`, 'countersign.dev/refresh=enabled'] as const;

const WORKLOADS = {
  deployment: 'deployments',
  statefulset: 'statefulsets',
  daemonset: 'daemonsets',
} as const;

interface Workload extends KubeObject {
  readonly spec?: {
    readonly template?: {
      readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> };
    };
  };
}

/** Lists countersign.dev annotations on workloads and bare pods in the namespaces that opted in. */
export async function readAnnotated(
  client: Client,
): Promise<ReadResult<readonly AnnotatedObject[]>> {
  const labelled = await Promise.all(
    OPTED_IN.map((labelSelector) =>
      listVisible(
        client,
        { group: '', version: 'v1', plural: 'namespaces', labelSelector },
        ({ metadata }: KubeObject) => [metadata.name],
      ),
    ),
  );
  // A namespace that opted in to both is injected: the first label comes last.
  const namespaces = new Map<string, boolean>();
  for (const [index, each] of [...labelled.entries()].toReversed()) {
    if (!('value' in each)) return each;
    for (const name of each.value) namespaces.set(name, index === 0);
  }
  const found: AnnotatedObject[] = [];
  for (const [namespace, isInjected] of namespaces) {
    for (const [kind, plural] of Object.entries(WORKLOADS)) {
      const listing = { group: 'apps', version: 'v1', plural, namespace };
      const seen = await listVisible(client, listing, (object: Workload) =>
        annotatedIn(object, kind, isInjected),
      );
      if (!('value' in seen)) return seen;
      found.push(...seen.value);
    }
    const pods = { group: '', version: 'v1', plural: 'pods', namespace };
    const bare = await listVisible(client, pods, (object: Workload) => {
      const { ownerReferences } = membersOf(object.metadata);
      const isOwned = Array.isArray(ownerReferences) && ownerReferences.length > 0;
      return isOwned ? [] : annotatedIn(object, 'pod', isInjected);
    });
    if (!('value' in bare)) return bare;
    found.push(...bare.value);
  }
  return { value: found };
}

function annotatedIn(
  { metadata, spec }: Workload,
  kind: string,
  isInjected: boolean,
): readonly AnnotatedObject[] {
  const { name, namespace = '', annotations } = metadata;
  const of = { kind, name, namespace, isInjected };
  return [
    { ...of, annotations: ownOf(annotations), inTemplate: false },
    { ...of, annotations: ownOf(spec?.template?.metadata?.annotations), inTemplate: true },
  ].filter(({ annotations: own }) => Object.keys(own).length > 0);
}

function ownOf(annotations: Readonly<Record<string, string>> = {}): AnnotatedObject['annotations'] {
  return Object.fromEntries(
    Object.entries(annotations).filter(([key]) => key.startsWith(ANNOTATION_PREFIX)),
  );
}
