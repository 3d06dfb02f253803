// SPDX-License-Identifier: Apache-2.0
import { keyOf, type Secret } from '../../api/object/object.ts';
import type { SecretReference } from '../../api/signer/cluster-signer.ts';
import { permissionText } from '../../kube/client/access-review.ts';
import { SECRETS } from '../../kube/resource/core-v1.ts';
import { createReflector } from '../../kube/watch/reflector.ts';
import { createWatchSet } from '../../kube/watch/watch-set.ts';
import type { Component } from '../component/component.ts';

/** A Secret by the name that an object gives: it, or why there is none yet. */
export type FoundSecret =
  | { readonly secret: Secret }
  | { readonly secret?: undefined; readonly problem: string; readonly isMissing: boolean };

/** Secrets that objects name, each watched by its name. */
export interface NamedSecrets {
  /** Watches these Secrets, and no others. */
  readonly serve: (references: readonly SecretReference[]) => void;
  /** Undefined until it was listed. */
  readonly get: (reference: SecretReference) => FoundSecret | undefined;
  /** Stores the answer to our own write. */
  readonly observe: (secret: Secret) => void;
  readonly stop: () => Promise<void>;
}

export interface NamedSecretsInit {
  readonly component: Component;
  /** It was created, changed, deleted, or listed for the first time. */
  readonly onEvent: (reference: SecretReference) => void;
  /** What to do where the component was not granted it, for people. */
  readonly howToGrant: (reference: SecretReference) => string;
}

const READ = ['list', 'watch'] as const;

/** Watches Secrets by name: RBAC with resourceNames grants no other list. Each permission is checked before it is used. */
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
      return watch?.synced === true ? { problem: 'it does not exist', isMissing: true } : undefined;
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
  return `${component.name} was not granted ${permissionText(missing)}; ${howToGrant({ namespace, name })}`;
}
