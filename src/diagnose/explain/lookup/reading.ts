// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '#api/object/object.ts';
import type { Resource } from '#kube/resource/resource.ts';
import type { ReadSignerStateInit } from '#operations/read-signer-state.ts';
import { inOrder, type Explanation, type Diagnosis } from '../explanation.ts';
import type { EventReader } from '../read-events.ts';

/** The object to explain. */
export interface Subject {
  /** Kind as the user wrote it: `csr`, `pod`. */
  readonly kind: string;
  readonly name: string;
  /** Namespace. Ignored for cluster-scoped kinds. */
  readonly namespace: string;
}

/** Dependencies of the explainers. */
export interface ExplainInit extends ReadSignerStateInit {
  /** The subject, if the caller has read it already. */
  readonly known?: KubeObject;
}

/** State that the parts of one explanation share. */
export interface ExplainContext extends ExplainInit {
  readonly events: EventReader;
}

/** Reads the subject. */
export async function read<T extends KubeObject = KubeObject>(
  { client, known }: ExplainContext,
  kind: Resource,
  reference: { readonly namespace?: string; readonly name: string },
): Promise<T> {
  // The caller read it by the same reference.
  if (known !== undefined) return known as T;
  return client.request<T>({ method: 'GET', path: kind.object(reference) });
}

/** Adds the object's name and Events to a diagnosis. */
export async function finish(
  { events }: ExplainContext,
  kind: string,
  { metadata }: KubeObject,
  judgement: Diagnosis,
): Promise<Explanation> {
  const { moments } = await events(metadata);
  return {
    object: `${kind}/${metadata.name}`,
    ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
    ...judgement,
    timeline: inOrder([...judgement.timeline, ...moments]),
  };
}
