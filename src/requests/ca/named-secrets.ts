// SPDX-License-Identifier: Apache-2.0
import { keyOf, type Secret } from '#api/object/object.ts';
import type { SecretReference } from '#api/signer/cluster-signer.ts';
import { permissionText } from '#kube/client/access-review.ts';
import { SECRETS } from '#kube/resource/core-v1.ts';
import { createReflector } from '#kube/watch/reflector.ts';
import { createWatchSet } from '#kube/watch/watch-set.ts';
import type { Component } from '#component/contract.ts';
import * as messages from './messages.ts';

/** A Secret by its reference, or the reason why it is not available. */
export type FoundSecret =
  | { readonly secret: Secret }
  | { readonly secret?: undefined; readonly problem: string; readonly isMissing: boolean };

/** Secrets that objects reference, each watched by its name. */
export interface NamedSecrets {
  /** Watches these Secrets, and no others. */
  readonly serve: (references: readonly SecretReference[]) => void;
  /** Undefined until it was listed. */
  readonly get: (reference: SecretReference) => FoundSecret | undefined;
  /** Stores the response to our own write. */
  readonly observe: (secret: Secret) => void;
  readonly stop: () => Promise<void>;
}

export interface NamedSecretsInit {
  readonly component: Component;
  /** Called when the Secret was created, changed, deleted or first listed. */
  readonly onEvent: (reference: SecretReference) => void;
  /** Returns the remedy for a missing permission, for users. */
  readonly howToGrant: (reference: SecretReference) => string;
}

const READ = ['list', 'watch'] as const;

/**
 * Watches Secrets by name: RBAC with resourceNames grants no other list. Checks each permission
 * before its use.
 */
export function createNamedSecrets(init: NamedSecretsInit): NamedSecrets {
  const { component, onEvent } = init;
  const stopped = new AbortController();
  const set = createWatchSet<Secret>((key) => {
    const [namespace = '', name = ''] = key.split('/');
    const changed = (): void => {
      onEvent({ namespace, name });
    };
    const reflector = createReflector<Secret>({
      ...component,
      path: SECRETS.collection(namespace),
      fieldSelector: `metadata.name=${name}`,
      preflight: () => whyWithheld(init, { namespace, name }),
      onEvent: changed,
    });
    void reflector.whenSynced(stopped.signal).then(changed, () => undefined);
    return reflector;
  });
  return {
    serve: (references) => {
      set.reconcile(references.map(keyOf));
    },
    get: (reference) => {
      const key = keyOf(reference);
      const watch = set.get(key);
      const secret = watch?.get(key);
      if (secret !== undefined) return { secret };
      if (watch?.failure !== undefined) return { problem: watch.failure, isMissing: false };
      return watch?.synced === true
        ? { problem: messages.DOES_NOT_EXIST, isMissing: true }
        : undefined;
    },
    observe: (secret) => set.get(keyOf(secret.metadata))?.applyWrite(secret),
    stop: async () => {
      stopped.abort();
      await set.stop();
    },
  };
}

async function whyWithheld(
  { component, howToGrant }: NamedSecretsInit,
  { namespace, name }: SecretReference,
): Promise<string | undefined> {
  const [missing] = await component.missingPermissions([
    { apiGroups: [''], resources: ['secrets'], resourceNames: [name], verbs: READ, namespace },
  ]);
  if (missing === undefined) return undefined;
  return messages.secretPermissionMissing(
    component.name,
    permissionText(missing),
    howToGrant({ namespace, name }),
  );
}
