// SPDX-License-Identifier: Apache-2.0
import type { AcmeSigner } from '../../../api/acme/index.ts';
import { keyOf, type Secret } from '../../../api/object/object.ts';
import type { SecretReference } from '../../../api/signer/cluster-signer.ts';
import { permissionText } from '../../../kube/client/access-review.ts';
import { createReflector } from '../../../kube/watch/reflector.ts';
import { createWatchSet } from '../../../kube/watch/watch-set.ts';
import { SECRETS } from '../../../runtime/ca/secret-watches.ts';
import type { Component } from '../../../runtime/component/component.ts';

/** A Secret by the name that a signer gives: it, or why there is none yet. */
export type FoundSecret =
  { readonly secret: Secret } | { readonly secret?: undefined; readonly problem: string };

/** The Secrets of accounts, each watched by its name. */
export interface AccountSecrets {
  /** Watches the Secrets of these signers, and no others. */
  readonly serve: (signers: readonly AcmeSigner[]) => void;
  /** Undefined until it was listed. */
  readonly get: (reference: SecretReference) => FoundSecret | undefined;
  readonly stop: () => Promise<void>;
}

/** The Secret of the account's key. */
export function accountSecretOf(signer: AcmeSigner, keysNamespace: string): SecretReference {
  return referenceOf(signer, signer.spec.acme.accountKey.secret.name, keysNamespace);
}

/** The Secret of the external account; undefined where none is named. */
export function externalSecretOf(
  signer: AcmeSigner,
  keysNamespace: string,
): SecretReference | undefined {
  const binding = signer.spec.acme.externalAccountBinding;
  return binding && referenceOf(signer, binding.secret.name, keysNamespace);
}

/** Never a namespace of the signer's choice: its own, or that of the keys. */
function referenceOf(
  { metadata }: AcmeSigner,
  name: string,
  keysNamespace: string,
): SecretReference {
  return { namespace: metadata.namespace ?? keysNamespace, name };
}

const READ = ['list', 'watch'] as const;

/** Watches Secrets by name: RBAC with resourceNames grants no other list. Each permission is checked before it is used. */
export function createAccountSecrets(
  component: Component,
  onEvent: (reference: SecretReference) => void,
): AccountSecrets {
  const set = createWatchSet<Secret>((key) => {
    const [namespace = '', name = ''] = key.split('/');
    const reflector = createReflector<Secret>({
      ...component,
      path: SECRETS.collection(namespace),
      fieldSelector: `metadata.name=${name}`,
      preflight: () => whyWithheld(component, { namespace, name }),
      onEvent: () => {
        onEvent({ namespace, name });
      },
    });
    const changed = (): void => {
      onEvent({ namespace, name });
    };
    void reflector.whenSynced(stopped.signal).then(changed, () => undefined);
    return reflector;
  });
  const stopped = new AbortController();
  const { secretNamespace } = component;
  return {
    serve: (signers) => {
      const references = signers.flatMap((each) => [
        accountSecretOf(each, secretNamespace),
        ...[externalSecretOf(each, secretNamespace)].filter((found) => found !== undefined),
      ]);
      set.reconcile(references.map(keyOf));
    },
    get: (reference) => {
      const key = keyOf(reference);
      const watch = set.get(key);
      const secret = watch?.get(key);
      if (secret !== undefined) return { secret };
      if (watch?.failure !== undefined) return { problem: watch.failure };
      return watch?.synced === true ? { problem: 'it does not exist' } : undefined;
    },
    stop: async () => {
      stopped.abort();
      await set.stop();
    },
  };
}

async function whyWithheld(
  component: Component,
  { namespace, name }: SecretReference,
): Promise<string | undefined> {
  const [missing] = await component.missingPermissions([
    { apiGroups: [''], resources: ['secrets'], resourceNames: [name], verbs: READ, namespace },
  ]);
  if (missing === undefined) return undefined;
  return `acme was not granted ${permissionText(missing)}; name the Secret in the installation (countersign rbac --acme-secret ${namespace}/${name})`;
}
