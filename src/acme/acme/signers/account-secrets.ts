// SPDX-License-Identifier: Apache-2.0
import { accountSecretOf } from '#api/acme/account-key.ts';
import type { AcmeSigner } from '#api/acme/acme-signer.ts';
import { keyOf } from '#api/object/object.ts';
import type { SecretReference } from '#api/signer/cluster-signer.ts';
import { createNamedSecrets, type NamedSecrets } from '#requests/ca/named-secrets.ts';
import type { Component } from '#component/contract.ts';
import * as messages from '../messages.ts';

/** The Secrets of accounts, each watched by its name. */
export interface AccountSecrets extends Pick<NamedSecrets, 'get' | 'stop'> {
  /** Watches the Secrets of these signers, and no others. */
  readonly serve: (signers: readonly AcmeSigner[]) => void;
}

/** Returns the Secret of the external account, or undefined if the signer has none. */
export function externalSecretOf(
  { metadata, spec }: AcmeSigner,
  keysNamespace: string,
): SecretReference | undefined {
  const name = spec.acme.externalAccountBinding?.secret.name;
  return name === undefined ? undefined : { namespace: metadata.namespace ?? keysNamespace, name };
}

/** Returns all account Secrets that these signers name. */
export function secretsOfAccounts(
  signers: readonly AcmeSigner[],
  keysNamespace: string,
): readonly SecretReference[] {
  return signers.flatMap((each) => [
    accountSecretOf(each, keysNamespace),
    ...[externalSecretOf(each, keysNamespace)].filter((found) => found !== undefined),
  ]);
}

/** @param onEvent - called with the name of a changed Secret */
export function createAccountSecrets(
  component: Component,
  onEvent: (reference: SecretReference) => void,
): AccountSecrets {
  const secrets = createNamedSecrets({
    component,
    onEvent,
    howToGrant: (reference) =>
      messages.listSecret(keyOf(reference), reference.namespace !== component.secretNamespace),
  });
  const { get, stop } = secrets;
  return {
    get,
    stop,
    serve: (signers) => {
      secrets.serve(secretsOfAccounts(signers, component.secretNamespace));
    },
  };
}
