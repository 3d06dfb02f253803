// SPDX-License-Identifier: Apache-2.0
import type { Client } from '../client/client.ts';
import { ignoreNotFound } from '../client/kube-error.ts';
import { ruleOf } from './objects/kinds.ts';
import type { FencedOperation } from './objects/plan-object.ts';
import type { ManagedObject } from './objects/managed-object.ts';

/** The media type that requests an object without its data. */
export const METADATA_ONLY =
  'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';

/** Reads and writes single objects. Nothing is retried. */
export interface ObjectWriter {
  /** Returns undefined if it does not exist. @throws KubeError */
  read(object: ManagedObject): Promise<ManagedObject | undefined>;
  /**
   * Server-side apply, which also creates it. The API server authorizes this `create` by name.
   * @throws KubeError
   */
  apply(object: ManagedObject): Promise<ManagedObject>;
  /** A JSON patch. @throws KubeError, 409 if the object changed meanwhile */
  patch(object: ManagedObject, operations: readonly FencedOperation[]): Promise<ManagedObject>;
  /** Deletes this very object, by its UID. @throws KubeError */
  remove(object: ManagedObject): Promise<void>;
}

/** @param fieldManager - the one name for all writes */
export function createWriter(client: Client, fieldManager: string): ObjectWriter {
  const pathOf = (object: ManagedObject): string => ruleOf(object).resource.object(object.metadata);
  const accept = (object: ManagedObject): { accept?: string } =>
    ruleOf(object).metadataOnly === true ? { accept: METADATA_ONLY } : {};
  const named = (object: ManagedObject, answer: ManagedObject): ManagedObject => ({
    ...answer,
    // Items of a list and partial metadata lack their own kind.
    apiVersion: object.apiVersion,
    kind: object.kind,
  });
  return {
    read: async (object) => {
      const answer = await client
        .request<ManagedObject>({ method: 'GET', path: pathOf(object), ...accept(object) })
        .catch(ignoreNotFound);
      return answer && named(object, answer);
    },
    apply: async (object) =>
      named(
        object,
        await client.request<ManagedObject>({
          method: 'PATCH',
          path: pathOf(object),
          body: object,
          ...accept(object),
          // Forced: the desired value wins over other managers of the field.
          query: { fieldManager, force: true, fieldValidation: 'Strict' },
          contentType: 'application/apply-patch+yaml',
        }),
      ),
    patch: async (object, operations) =>
      named(
        object,
        await client.request<ManagedObject>({
          method: 'PATCH',
          path: pathOf(object),
          body: operations,
          ...accept(object),
          query: { fieldManager },
          contentType: 'application/json-patch+json',
        }),
      ),
    remove: async (object) => {
      const { uid } = object.metadata;
      const body = {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        propagationPolicy: 'Background',
        preconditions: { uid },
      };
      await client.request({ method: 'DELETE', path: pathOf(object), body }).catch(ignoreNotFound);
    },
  };
}
