// SPDX-License-Identifier: Apache-2.0
import { secretOf, type ClusterSigner } from '../../api/cluster-signer.ts';
import { keyOf, type Secret } from '../../api/object.ts';
import type { CreateAuthority, OpenAuthority } from '../../authorities/contract.ts';
import { SignerError, attempt } from '../../errors.ts';
import { compileProfile } from '../../issuance/profile.ts';
import { createReflector } from '../../kube/reflector.ts';
import { runLoop, type Again } from '../../kube/run-loop.ts';
import { createWatchSet } from '../../kube/watch-set.ts';
import { compilePolicy } from '../../policy/compile-policy.ts';
import { SECRETS } from '../../serving/authority-sources.ts';
import type { Component, Controller } from '../../serving/component.ts';
import { explain } from '../../serving/explain.ts';
import { memoByGeneration } from '../../serving/memo.ts';
import { namesOf } from '../../serving/permission-names.ts';
import { createSigners } from '../../serving/signers.ts';
import { materialOf } from '../../serving/usable-authority.ts';
import { createActor } from './act.ts';
import { decide, type SecretLook } from './decide.ts';
import { faultyStatus } from './faulty.ts';
import { permissions } from './permissions.ts';

export interface AuthorityInit {
  readonly component: Component;
  readonly open: OpenAuthority;
  readonly create: CreateAuthority;
}

const WORKERS = 2;

/** Checks ClusterSigners, makes managed CAs and writes every ClusterSigner's status. */
export function createAuthorityController(init: AuthorityInit): Controller {
  const { component, open } = init;
  const { queue } = component;
  const stopped = new AbortController();
  const signers = createSigners(component, (names) => {
    secrets.reconcile(signers.known().map((each) => keyOf(secretOf(each.spec))));
    for (const name of names) queue.add(name);
  });
  const secrets = createWatchSet<Secret>((key) => {
    const [namespace = '', name = ''] = key.split('/');
    const wake = (): void => {
      for (const each of signers.known()) {
        if (keyOf(secretOf(each.spec)) === key) queue.add(each.metadata.name);
      }
    };
    const reflector = createReflector<Secret>({
      ...component,
      path: SECRETS.collection(namespace),
      fieldSelector: `metadata.name=${name}`,
      onEvent: wake,
    });
    // From then on "not there" means missing.
    void reflector.whenSynced(stopped.signal).then(wake, () => undefined);
    return reflector;
  });
  const actor = createActor(init);
  const compiled = memoByGeneration((signer) => {
    compileProfile(signer.spec);
    compilePolicy(signer.spec);
  });

  function look(signer: ClusterSigner): SecretLook {
    const key = keyOf(secretOf(signer.spec));
    const reflector = secrets.get(key);
    if (reflector?.synced !== true) return { kind: 'unknown', failure: reflector?.failure };
    const secret = reflector.get(key);
    return secret === undefined ? { kind: 'missing' } : { kind: 'found', secret };
  }

  async function handle(name: string): Promise<Again> {
    const faulty = signers.faulty(name);
    if (faulty !== undefined) {
      await actor.writeStatus(faulty.object, faultyStatus(faulty, component.clock()));
      return undefined;
    }
    const signer = signers.get(name);
    if (signer === undefined) return undefined;
    const specError = attempt(() => compiled(signer));
    const plan = decide({
      signer,
      elder: signers.elderOf(name),
      specError: specError instanceof SignerError ? specError : undefined,
      secret: look(signer),
      inspect: (secret) => {
        const opened = attempt(() => open(materialOf(secret), component.clock()));
        return opened instanceof SignerError ? opened : opened.facts;
      },
      now: component.clock(),
    });
    await actor.carryOut(signer, plan);
    return plan.requeueAt === undefined ? undefined : { at: plan.requeueAt };
  }

  return {
    permissions: () => permissions(namesOf(signers.all())),
    notReady: () =>
      [signers.reflector, ...secrets.entries().map(([, each]) => each)]
        .filter((each) => !each.synced || each.failure !== undefined)
        .map((each) => `ClusterSigners or CA Secrets: ${each.failure ?? 'not listed yet'}`),
    run: async (signal) => {
      const watching = signers.reflector.run(signal);
      const onError = (name: string, error: unknown): void => tell(component, name, error);
      await runLoop({ ...component, workers: WORKERS, handle, onError }, signal);
      stopped.abort();
      await Promise.all([watching, secrets.stop()]);
    },
  };
}

function tell(component: Component, name: string, error: unknown): void {
  if (!(error instanceof SignerError)) {
    component.log.error({ name, error: String(error) }, 'an unexpected error; it is tried again');
    return;
  }
  const { message = '', reason, event } = explain(error, component.name);
  component.log.warn(
    { kind: 'ClusterSigner', name, reason, error: message },
    'ClusterSigner waits',
  );
  if (event === undefined) return;
  const regarding = { apiVersion: 'countersign.dev/v1alpha1', kind: 'ClusterSigner', name };
  component.events.record({ ...event, regarding });
}
