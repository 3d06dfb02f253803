// SPDX-License-Identifier: Apache-2.0
import {
  ACME_CLUSTER_SIGNERS,
  accountSecretOf,
  readAcmeSigner,
  type AcmeSigner,
} from '../../../api/acme/index.ts';
import { keyOf, type KubeObject } from '../../../api/object/object.ts';
import { attempt, SignerError } from '../../../errors.ts';
import { ignoreNotFound } from '../../../kube/client/kube-error.ts';
import { resource } from '../../../kube/resource/resource.ts';
import { createReflector } from '../../../kube/watch/reflector.ts';
import type { ReconcileResult } from '../../../kube/workqueue/run-loop.ts';
import { createNamedSecrets, type NamedSecrets } from '../../../runtime/ca/named-secrets.ts';
import type { Component } from '../../../runtime/component/component.ts';
import { requeueAt, serverTime } from '../../../runtime/component/server-time.ts';
import { decideAccountKey, nextThumbprintOf, type AccountKeyStep } from './decide.ts';
import { writeAccountKey } from './write.ts';

/** The account keys of AcmeClusterSigners: made, and put in the place of those that they follow. */
export interface AccountKeys {
  /** Whether a key of the component's queue is for it. */
  readonly owns: (key: string) => boolean;
  readonly handle: (key: string) => Promise<ReconcileResult>;
  /** Queues all: this replica leads now, perhaps. */
  readonly wake: () => void;
  /** They never keep the component from being ready: CAs do not wait for ACME. */
  readonly warnings: () => readonly string[];
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** Makes the {@link AccountKeys} of a component. */
export type CreateAccountKeys = (component: Component, version: string) => AccountKeys;

const PREFIX = ':account-key/';
const OF_CLUSTER = resource(ACME_CLUSTER_SIGNERS);

/** What this replica works with. */
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
    // Keys that are not granted are made by people.
    howToGrant: (reference) =>
      `name it in the installation (countersign rbac --acme-account-key ${keyOf(reference)}), or make the key yourself (countersign account-key)`,
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
      signers.failure === undefined
        ? []
        : [`AcmeClusterSigners, for their account keys: ${signers.failure}`],
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

/** The watch may lag behind a signer that was deleted, or that names another Secret now. */
async function isFresh({ client }: Component, { metadata }: AcmeSigner): Promise<boolean> {
  const path = OF_CLUSTER.object({ name: metadata.name });
  const fresh = await client.request<KubeObject>({ method: 'GET', path }).catch(ignoreNotFound);
  return fresh?.metadata.uid === metadata.uid && fresh.metadata.generation === metadata.generation;
}

const SAID = {
  make: ['AccountKeyMade', 'a new account key was made'],
  fill: ['AccountKeyMade', 'a new account key was made'],
  prepare: ['AccountKeyPrepared', 'a new account key stands beside the one in use'],
  promote: ['AccountKeyReplaced', 'the new account key is in use, the old one was removed'],
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
  const note = isLost ? what : `${what}, in Secret ${secret}`;
  const regarding = { apiVersion, kind, name, uid };
  const type = isLost ? 'Warning' : 'Normal';
  events.record({ regarding, type, reason, action: 'MakeAccountKey', note });
}
