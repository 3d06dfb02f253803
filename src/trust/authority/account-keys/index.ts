// SPDX-License-Identifier: Apache-2.0
import { accountSecretOf } from '#api/acme/account-key.ts';
import type { AcmeSigner } from '#api/acme/acme-signer.ts';
import { ACME_CLUSTER_SIGNERS } from '#api/acme/names.ts';
import { readAcmeSigner } from '#api/acme/read-acme-signer.ts';
import { keyOf, type KubeObject } from '#api/object/object.ts';
import { attempt, SignerError } from '#base/errors.ts';
import { ignoreNotFound } from '#kube/client/kube-error.ts';
import { resource } from '#kube/resource/resource.ts';
import { createReflector } from '#kube/watch/reflector.ts';
import type { ReconcileResult } from '#kube/workqueue/run-loop.ts';
import { createNamedSecrets, type NamedSecrets } from '#requests/ca/named-secrets.ts';
import type { Component } from '#component/contract.ts';
import { requeueAt, serverTime } from '#component/server-time.ts';
import { decideAccountKey, nextThumbprintOf, type AccountKeyStep } from './decide.ts';
import { writeAccountKey } from './write.ts';
import * as messages from '../messages.ts';

/** Makes and rotates the account keys of AcmeClusterSigners. */
export interface AccountKeys {
  /** Reports whether a key of the component's queue belongs to account keys. */
  readonly owns: (key: string) => boolean;
  readonly handle: (key: string) => Promise<ReconcileResult>;
  /** Enqueues all signers, since this replica may lead now. */
  readonly wake: () => void;
  /** Warnings only: CAs do not depend on ACME, so the component stays ready. */
  readonly warnings: () => readonly string[];
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** Makes the {@link AccountKeys} of a component. */
export type CreateAccountKeys = (component: Component, version: string) => AccountKeys;

const PREFIX = ':account-key/';
const OF_CLUSTER = resource(ACME_CLUSTER_SIGNERS);

/** State of one replica. */
interface AccountKeysState {
  readonly component: Component;
  readonly version: string;
  readonly secrets: NamedSecrets;
}

export const createAccountKeys: CreateAccountKeys = (component, version) => {
  const { queue, secretNamespace } = component;
  const read = (object: KubeObject): readonly AcmeSigner[] => {
    const signer = attempt(() => readAcmeSigner(object));
    return signer instanceof SignerError ? [] : [signer];
  };
  const wake = (): void => {
    for (const { metadata } of signers.list()) queue.add(PREFIX + metadata.name);
  };
  const secrets = createNamedSecrets({
    component,
    onEvent: wake,
    // Users make the keys that an administrator does not grant.
    howToGrant: (reference) => messages.howToGrantAccountKey(keyOf(reference)),
  });
  const signers = createReflector<KubeObject>({
    ...component,
    path: OF_CLUSTER.collection(),
    onEvent: (name) => {
      const all = signers.list().flatMap(read);
      secrets.serve(all.map((each) => accountSecretOf(each, secretNamespace)));
      queue.add(PREFIX + name);
    },
  });
  const state = { component, version, secrets };
  return {
    owns: (key) => key.startsWith(PREFIX),
    handle: async (key) => {
      const object = signers.get(key.slice(PREFIX.length));
      const [signer] = object === undefined ? [] : read(object);
      return signer === undefined ? undefined : reconcile(state, signer);
    },
    wake,
    warnings: () =>
      signers.failure === undefined ? [] : [messages.unlistedAcmeSigners(signers.failure)],
    run: async (signal) => {
      await signers.run(signal);
      await secrets.stop();
    },
  };
};

async function reconcile(
  { component, version, secrets }: AccountKeysState,
  signer: AcmeSigner,
): Promise<ReconcileResult> {
  const reference = accountSecretOf(signer, component.secretNamespace);
  const found = secrets.get(reference);
  if (found === undefined) return undefined;
  if (found.secret === undefined && !found.isMissing) return undefined;
  const { secret } = found;
  const now = serverTime(component);
  const nextThumbprint = secret && (await nextThumbprintOf(secret));
  const step = decideAccountKey({ signer, reference, secret, nextThumbprint, now });
  if (step.kind === 'none') return requeueAt(component, step.lookAt);
  if (step.kind === 'lost') {
    say(component, signer, step);
    return undefined;
  }
  if (!(await isFresh(component, signer))) return 'backoff';
  const write = { client: component.client, version, signer, reference, secret, now };
  const written = await writeAccountKey(step.kind, write);
  if (written === undefined) return 'backoff';
  secrets.observe(written);
  say(component, signer, step);
  return undefined;
}

/**
 * Reports whether the signer is unchanged. The watch may lag behind a deletion or a new Secret
 * reference.
 */
async function isFresh({ client }: Component, { metadata }: AcmeSigner): Promise<boolean> {
  const path = OF_CLUSTER.object({ name: metadata.name });
  const fresh = await client.request<KubeObject>({ method: 'GET', path }).catch(ignoreNotFound);
  return fresh?.metadata.uid === metadata.uid && fresh.metadata.generation === metadata.generation;
}

const SAID = {
  make: ['AccountKeyMade', messages.ACCOUNT_KEY_MADE],
  fill: ['AccountKeyMade', messages.ACCOUNT_KEY_MADE],
  prepare: ['AccountKeyPrepared', messages.ACCOUNT_KEY_PREPARED],
  promote: ['AccountKeyReplaced', messages.ACCOUNT_KEY_REPLACED],
} as const;

function say(
  { events, log, secretNamespace }: Component,
  signer: AcmeSigner,
  step: Exclude<AccountKeyStep, { kind: 'none' }>,
): void {
  const { apiVersion, kind, metadata } = signer;
  const { name, uid } = metadata;
  const isLost = step.kind === 'lost';
  const [reason, what] = isLost ? (['AccountKeyLost', step.message] as const) : SAID[step.kind];
  const secret = keyOf(accountSecretOf(signer, secretNamespace));
  if (isLost) log.warn({ acmeClusterSigner: name, secret }, what);
  else log.info({ acmeClusterSigner: name, secret, step: step.kind }, what);
  const note = isLost ? what : messages.inSecret(what, secret);
  const regarding = { apiVersion, kind, name, uid };
  const type = isLost ? 'Warning' : 'Normal';
  events.record({ regarding, type, reason, action: 'MakeAccountKey', note });
}
