// SPDX-License-Identifier: Apache-2.0
import { secretOf, type ClusterSigner } from '../../api/cluster-signer.ts';
import { bundleName, type ClusterTrustBundle } from '../../api/cluster-trust-bundle.ts';
import { keyOf, type Secret } from '../../api/object.ts';
import type { CreateAuthority, OpenAuthority } from '../../authorities/contract.ts';
import { SignerError, attempt } from '../../errors.ts';
import { compileProfile } from '../../issuance/profile.ts';
import { createReflector } from '../../kube/reflector.ts';
import type { Resource } from '../../kube/resource.ts';
import { runLoop, type Again } from '../../kube/run-loop.ts';
import { createWatchSet } from '../../kube/watch-set.ts';
import { compileCertificateRequestPolicy, compilePolicy } from '../../policy/compile-policy.ts';
import { SECRETS } from '../../serving/authority-sources.ts';
import type { Component, Controller } from '../../serving/component.ts';
import { explain } from '../../serving/explain.ts';
import { memoByGeneration } from '../../serving/memo.ts';
import { namesOf } from '../../serving/permission-names.ts';
import { createSigners } from '../../serving/signers.ts';
import { lookAgain, serverTime } from '../../serving/server-time.ts';
import { createActor } from './act.ts';
import { decide } from './decide.ts';
import { faultyStatus } from './faulty.ts';
import { inspectWith, type SecretLook } from './look.ts';
import { createOwnTls, type OwnTlsPlace, type Watched } from './own-tls/index.ts';
import { permissions } from './permissions.ts';

export interface AuthorityInit {
  readonly component: Component;
  readonly open: OpenAuthority;
  readonly create: CreateAuthority;
  /** The ClusterTrustBundle resource in the version that the server has. */
  readonly bundles: Resource;
  /** Of ourselves. */
  readonly version: string;
  /** Where the certificates of our own ports lie; absent: nobody's are made. */
  readonly ownTls?: OwnTlsPlace | undefined;
}

const WORKERS = 2;

/** Checks ClusterSigners, makes and rotates managed CAs, and writes every ClusterSigner's status. */
export function createAuthorityController(init: AuthorityInit): Controller {
  const { component, open } = init;
  const { queue } = component;
  const stopped = new AbortController();
  const signers = createSigners(component, (names) => {
    const known = signers.known();
    secrets.reconcile(known.map((each) => keyOf(secretOf(each.spec))));
    bundles.reconcile(known.filter(isPublished).map(({ spec }) => spec.signerName));
    ownTls?.serve(signers.all());
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
  const bundles = createWatchSet<ClusterTrustBundle>((signerName) =>
    createReflector<ClusterTrustBundle>({
      ...component,
      path: init.bundles.collection(),
      fieldSelector: `spec.signerName=${signerName}`,
      onEvent: () => {
        const signer = signers.serving(signerName);
        if (signer !== undefined) queue.add(signer.metadata.name);
      },
    }),
  );
  const actor = createActor({
    ...init,
    observe: (secret) => secrets.get(keyOf(secret.metadata))?.observe(secret),
  });
  const compiled = memoByGeneration((signer: ClusterSigner) => {
    compileProfile(signer.spec);
    compilePolicy(signer.spec);
    compileCertificateRequestPolicy(signer.spec);
  });

  function look(signer: ClusterSigner): SecretLook {
    const key = keyOf(secretOf(signer.spec));
    const reflector = secrets.get(key);
    if (reflector?.synced !== true) return { kind: 'unknown', failure: reflector?.failure };
    const secret = reflector.get(key);
    return secret === undefined ? { kind: 'missing' } : { kind: 'found', secret };
  }

  function bundleOf({ spec }: ClusterSigner): ClusterTrustBundle | undefined {
    const { signerName, trustBundle } = spec;
    if (trustBundle === undefined) return undefined;
    return bundles.get(signerName)?.get(bundleName(signerName, trustBundle.name));
  }

  const ownTls = init.ownTls && createOwnTls({ ...init, place: init.ownTls, watched: watchedOf });

  function watchedOf(signer: ClusterSigner): Watched | undefined {
    const secret = look(signer);
    const bundle = bundleOf(signer);
    const listed = !isPublished(signer) || bundles.get(signer.spec.signerName)?.synced === true;
    if (secret.kind === 'unknown' || !listed) return undefined;
    return { secret: secret.kind === 'found' ? secret.secret : undefined, bundle };
  }

  component.duty.onChange(() => {
    ownTls?.wake();
    for (const { metadata } of signers.reflector.list()) queue.add(metadata.name);
  });

  async function handle(name: string): Promise<Again> {
    if (!component.duty.mine(name)) return undefined;
    return ownTls?.owns(name) === true ? ownTls.handle(name) : handleSigner(name);
  }

  async function handleSigner(name: string): Promise<Again> {
    const faulty = signers.faulty(name);
    if (faulty !== undefined) {
      await actor.writeStatus(faulty.object, faultyStatus(faulty, serverTime(component)));
      return undefined;
    }
    const signer = signers.get(name);
    if (signer === undefined) return undefined;
    const specError = attempt(() => compiled(signer));
    const secret = look(signer);
    const now = serverTime(component);
    const plan = decide({
      signer,
      elder: signers.elderOf(name),
      specError: specError instanceof SignerError ? specError : undefined,
      secret,
      inspect: inspectWith(open, now),
      bundle: bundleOf(signer),
      propagationSeconds: component.propagationSeconds,
      now,
    });
    const found = secret.kind === 'found' ? secret.secret : undefined;
    const again = await actor.carryOut({ signer, secret: found, plan, now });
    if (signer.spec.signerName === init.ownTls?.signerName) ownTls?.wake();
    return again ?? lookAgain(component, plan.requeueAt);
  }

  return {
    permissions: () =>
      permissions({ ...namesOf(signers.all(), component), ownTls: ownTls?.namespace }),
    notReady: () => [
      ...[signers.reflector, ...[...secrets.entries(), ...bundles.entries()].map(([, it]) => it)]
        .filter((each) => !each.synced || each.failure !== undefined)
        .map(
          (each) => `ClusterSigners, CA Secrets or bundles: ${each.failure ?? 'not listed yet'}`,
        ),
      ...(ownTls?.notReady() ?? []),
    ],
    warnings: () => ownTls?.warnings() ?? [],
    run: async (signal) => {
      const watching = signers.reflector.run(signal);
      const onError = (name: string, error: unknown): void => tell(component, name, error);
      await runLoop({ ...component, workers: WORKERS, handle, onError }, signal);
      stopped.abort();
      await Promise.all([watching, secrets.stop(), bundles.stop(), ownTls?.stop()]);
    },
  };
}

function isPublished({ spec }: ClusterSigner): boolean {
  return spec.trustBundle !== undefined;
}

function tell(component: Component, name: string, error: unknown): void {
  if (!(error instanceof SignerError)) {
    component.log.error({ name, error: String(error) }, 'an unexpected error; it is tried again');
    return;
  }
  const {
    message = '',
    reason,
    event,
  } = explain(error, component.name, component.client.clockOffset());
  component.log.warn(
    { kind: 'ClusterSigner', name, reason, error: message },
    'ClusterSigner waits',
  );
  if (event === undefined) return;
  const regarding = { apiVersion: 'countersign.dev/v1alpha1', kind: 'ClusterSigner', name };
  component.events.record({ ...event, regarding });
}
