// SPDX-License-Identifier: Apache-2.0
import {
  isTerminal,
  type PodCertificateRequest,
} from '../../../api/request/pod-certificate-request.ts';
import { readsPods, type SignerObject } from '../../../api/signer/cluster-signer.ts';
import { isNamespaced } from '../../../api/signer/signer.ts';
import { keyOf } from '../../../api/object/object.ts';
import type { Pod } from '../../../api/object/pod.ts';
import type { SignerError } from '../../../errors.ts';
import type { EventDetails } from '../../../kube/events/body.ts';
import type { Component } from '../../../runtime/component/component.ts';
import { serverTime } from '../../../runtime/component/server-time.ts';
import type { PodPlan } from '../plan.ts';
import { createConfirm, readPod, type Confirm } from './confirm.ts';
import { isPodOf, type PodEvidence, type Proof } from './evidence.ts';
import { createOutdatedNames, type OutdatedNames, type SayOfPod } from './outdated-names.ts';
import { createRecordedNames, type RecordedNames } from './recorded-names.ts';
import { createServiceIndex, type ServiceIndex } from './service-index.ts';
import { createWaiting } from './waiting.ts';

/** What the issuing of leaves with proven names asks of the API server. */
export interface PodReader {
  /**
   * Reads the pod of a request, and takes the Services of its namespace from the watch; undefined where the signer asks
   * for nothing of it.
   *
   * @throws KubeError if the pod cannot be read
   */
  gather(
    request: PodCertificateRequest,
    signer: Pick<SignerObject, 'spec'>,
  ): Promise<PodEvidence | undefined>;
  /** Looks once more before a leaf is delivered. @returns why it may not be */
  confirm(proof: Proof | undefined): Promise<SignerError | undefined>;
  /** A request was decided: it may wait for a Service. */
  decided(request: PodCertificateRequest, plan: PodPlan): void;
  /** A leaf was delivered. `notAfter` in milliseconds. */
  delivered(request: PodCertificateRequest, proof: Proof, notAfter: number): void;
  /** The request `namespace/name` is gone. */
  forget(storeKey: string): void;
  /** The signers that are served: while one of them asks for Services, these are watched. */
  serve(signers: readonly SignerObject[]): void;
  /** Calls `listener` with the signer name and the key of a request that a change of a Service may have freed. */
  onAnswer(listener: (signerName: string, storeKey: string) => void): void;
  /** Why leaves of ClusterSigners that ask for Services cannot be issued. */
  notReady(): readonly string[];
  /** Signers whose names lead astray. */
  warnings(): readonly string[];
  /** Drops what has expired, until `signal` is aborted. */
  run(signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
}

/** What of an Event says which object it is about. */
type Regarding = Pick<EventDetails, 'regarding' | 'related'>;

/** Codes of requests that a change of a Service may free. */
const OF_SERVICES: readonly string[] = [
  'SERVICES_NOT_LISTED',
  'SERVICE_NOT_FOUND',
  'SERVICE_DOES_NOT_SELECT_POD',
];

/** How often leaves that have expired are dropped. */
const SWEEP_EVERY_MS = 60_000;

/**
 * @param regarding - the objects of an Event about a request
 * @param ledgerFacts - whether what happened before the start is read from the ledger
 */
export function createPodReader(
  component: Component,
  regarding: (request: PodCertificateRequest) => Regarding,
  ledgerFacts = false,
): PodReader {
  return new ApiReader(component, regarding, ledgerFacts);
}

class ApiReader implements PodReader {
  readonly #component: Component;
  readonly #confirm: Confirm;
  readonly #waiting = createWaiting();
  readonly #listeners: ((signerName: string, storeKey: string) => void)[] = [];
  readonly #outdated: OutdatedNames;
  /** Absent where the ledger is not read. */
  readonly #recorded: RecordedNames | undefined;
  readonly #services: ServiceIndex;
  #served: readonly SignerObject[] = [];

  constructor(
    component: Component,
    regarding: (request: PodCertificateRequest) => Regarding,
    ledgerFacts: boolean,
  ) {
    this.#component = component;
    const { client, events, metrics } = component;
    this.#confirm = createConfirm(client);
    const say: SayOfPod = (request, said) => {
      events.record({ ...regarding(request), type: 'Warning', action: 'Issue', ...said });
    };
    this.#outdated = createOutdatedNames({
      now: () => serverTime(component),
      say,
      count: (signerName, leaves) => {
        // Of a signer that is gone the series went: it must not come back.
        if (this.#isServed(signerName) && this.#recorded?.isCurrent(signerName) !== true)
          metrics.podNamesOutdated(signerName, leaves, 'start');
      },
    });
    this.#recorded = ledgerFacts
      ? createRecordedNames({
          component,
          signers: () => this.#served.filter(namesServices),
          areServicesListed: () => this.#services.isListed(),
          serviceOf: (namespace, name) => this.#services.get(namespace, name),
          say,
          count: (signerName, leaves) => {
            metrics.podNamesOutdated(signerName, leaves, 'ledger');
          },
          onAway: (signerName) => {
            if (!this.#isServed(signerName)) return;
            metrics.podNamesOutdated(signerName, 0, 'start');
            this.#outdated.sweep();
          },
        })
      : undefined;
    this.#services = createServiceIndex(component, {
      onChange: (namespace, name, now) => {
        this.#outdated.changed(namespace, name, now);
        this.#recorded?.changed(namespace, name, now);
        this.#wake(namespace);
      },
      onListed: () => {
        const now: ServiceIndex['get'] = (namespace, name) => this.#services.get(namespace, name);
        this.#outdated.listed(now);
        this.#recorded?.listed(now);
        this.#wake();
      },
    });
  }

  async gather(
    request: PodCertificateRequest,
    { spec }: Pick<SignerObject, 'spec'>,
  ): Promise<PodEvidence | undefined> {
    if (!readsPods(spec) || isTerminal(request)) return undefined;
    const { namespace = '' } = request.metadata;
    const pod = await this.#podOf(request, spec);
    return { pod, services: this.#services.of(namespace) };
  }

  /**
   * Names of Services wait for what is not seen yet, and {@link confirm} looks at what is stored: the cache of the API server
   * will do for them. By labels or an address a request can be denied, which is for ever.
   */
  async #podOf(
    request: PodCertificateRequest,
    { pods }: SignerObject['spec'],
  ): Promise<Pod | undefined> {
    const { client } = this.#component;
    const { namespace = '' } = request.metadata;
    const reference = { namespace, name: request.spec.podName };
    if ((pods?.labels ?? []).length + (pods?.ipAddresses ?? []).length === 0) {
      const pod = await readPod(client, reference, 'cache');
      if (pod !== undefined && isPodOf(request, pod)) return pod;
    }
    return readPod(client, reference, 'etcd');
  }

  async confirm(proof: Proof | undefined): Promise<SignerError | undefined> {
    return proof === undefined ? undefined : this.#confirm(proof);
  }

  decided(request: PodCertificateRequest, plan: PodPlan): void {
    const { metadata, spec } = request;
    const { namespace = '' } = metadata;
    const waits = plan.kind === 'wait' && OF_SERVICES.includes(plan.error.code);
    if (waits) this.#waiting.add(namespace, keyOf(metadata), spec.signerName);
    else this.#waiting.delete(namespace, keyOf(metadata));
    if (!waits || plan.error.code === 'SERVICES_NOT_LISTED') return;
    this.#outdated.refused(request);
    this.#recorded?.refused(request);
  }

  delivered(request: PodCertificateRequest, proof: Proof, notAfter: number): void {
    this.#outdated.delivered(request, proof, notAfter);
  }

  forget(storeKey: string): void {
    this.#waiting.delete(storeKey.split('/')[0] ?? '', storeKey);
  }

  serve(signers: readonly SignerObject[]): void {
    this.#served = signers;
    this.#services.serve(signers.some(namesServices));
  }

  onAnswer(listener: (signerName: string, storeKey: string) => void): void {
    this.#listeners.push(listener);
  }

  notReady(): readonly string[] {
    const isNeeded = this.#served.some((each) => !isNamespaced(each) && namesServices(each));
    const failure = this.#services.failure();
    return isNeeded && failure !== undefined ? [`Services: ${failure}`] : [];
  }

  warnings(): readonly string[] {
    return [...this.#served.flatMap(shortNames), ...(this.#recorded?.warnings() ?? [])];
  }

  async run(signal: AbortSignal): Promise<void> {
    const reading = this.#recorded?.run(signal);
    while (!signal.aborted) {
      await this.#component.delay(SWEEP_EVERY_MS, signal).catch(() => undefined);
      this.#outdated.sweep();
      this.#recorded?.sweep();
    }
    await reading;
  }

  stop(): Promise<void> {
    return this.#services.stop();
  }

  #isServed(signerName: string): boolean {
    return this.#served.some(({ spec }) => spec.signerName === signerName);
  }

  #wake(namespace?: string): void {
    for (const [storeKey, signerName] of this.#waiting.take(namespace))
      for (const listener of this.#listeners) listener(signerName, storeKey);
  }
}

function namesServices({ spec }: SignerObject): boolean {
  return spec.pods?.services !== undefined;
}

function shortNames({ spec, kind, metadata }: SignerObject): readonly string[] {
  const found = (spec.pods?.services?.forms ?? []).filter(
    (form) => form === 'Service' || form === 'ServiceNamespace',
  );
  if (found.length === 0) return [];
  return [
    `${kind} ${keyOf(metadata)} puts short names of Services into leaves (spec.pods.services.forms: ${found.join(', ')}): a pod of another namespace, or a host on the Internet, can have the same name`,
  ];
}
