// SPDX-License-Identifier: Apache-2.0
import { isTerminal, type PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import { readsPods, type SignerObject } from '#api/signer/cluster-signer.ts';
import { isNamespaced } from '#api/signer/signer.ts';
import { keyOf } from '#api/object/object.ts';
import type { Pod } from '#api/object/pod.ts';
import type { SignerError } from '#base/errors.ts';
import type { EventDetails } from '#kube/events/body.ts';
import type { Component } from '#component/contract.ts';
import type { LedgerReader } from '#ledger/sender/reader.ts';
import { serverTime } from '#component/server-time.ts';
import { createConfirm, readPod, type Confirm } from './confirm.ts';
import { isPodOf, type PodEvidence, type Proof } from './evidence.ts';
import { createOutdatedNames, type OutdatedNames, type SayOfPod } from './outdated-names.ts';
import { createRecordedNames, type RecordedNames } from './recorded-names.ts';
import { createServiceIndex, createStoredServices, type ServiceIndex } from './service-index.ts';
import { createWaiting } from './waiting.ts';
import * as messages from '../messages.ts';
import { countOutdatedNames } from '../metrics.ts';

/** Reads pods and Services for leaves with proven names. */
export interface PodReader {
  /**
   * Reads the pod of a request, and takes the Services of its namespace from the watch. Returns
   * undefined if the signer needs neither.
   *
   * @throws KubeError if the pod cannot be read
   */
  gather(
    request: PodCertificateRequest,
    signer: Pick<SignerObject, 'spec'>,
  ): Promise<PodEvidence | undefined>;
  /**
   * Reads the pod of a request and the Services of its namespace as they are stored, for a decision
   * that is final.
   *
   * @throws KubeError if they cannot be read
   */
  gatherStored(request: PodCertificateRequest): Promise<PodEvidence>;
  /**
   * Confirms a proof before a leaf is delivered.
   *
   * @returns the change that forbids delivery
   */
  readonly confirm: (proof: Proof) => Promise<SignerError | undefined>;
  /** Records why a request waits, which may be a Service. */
  waits(request: PodCertificateRequest, reason: SignerError): void;
  /** Records a delivered leaf. `notAfter` in milliseconds. */
  delivered(request: PodCertificateRequest, proof: Proof, notAfter: number): void;
  /** Forgets the request `namespace/name`. */
  forget(storeKey: string): void;
  /** Receives the served signers. Services are watched while a signer needs them. */
  serve(signers: readonly SignerObject[]): void;
  /**
   * Calls `listener` with the signer name and key of a request that a change of a Service may
   * unblock.
   */
  onAnswer(listener: (signerName: string, storeKey: string) => void): void;
  /** Reasons why ClusterSigners that need Services cannot issue. */
  notReady(): readonly string[];
  /** Warnings about signers with ambiguous names. */
  warnings(): readonly string[];
  /** Drops expired leaves until `signal` is aborted. */
  run(signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
}

/** The fields of an Event that identify its object. */
type EventObjects = Pick<EventDetails, 'regarding' | 'related'>;

/** Codes of requests whose pod has no Service to name. */
const WITHOUT_SERVICE: readonly string[] = ['SERVICE_NOT_FOUND', 'SERVICE_DOES_NOT_SELECT_POD'];

/**
 * Codes of requests that a change of a Service may unblock. NAME_INVALID also stands for too many
 * Services of one pod.
 */
const OF_SERVICES: readonly string[] = [...WITHOUT_SERVICE, 'SERVICES_NOT_LISTED', 'NAME_INVALID'];

/** Interval for dropping expired leaves. */
const SWEEP_EVERY_MS = 60_000;

/**
 * Creates the reader of pods and Services that prove the names of a pod.
 *
 * @param regarding - returns the objects of an Event about a request
 * @param ledger - shows events before the start. If absent, only those that this process saw count.
 */
export function createPodReader(
  component: Component,
  regarding: (request: PodCertificateRequest) => EventObjects,
  ledger?: LedgerReader,
): PodReader {
  return new ApiReader(component, regarding, ledger);
}

class ApiReader implements PodReader {
  readonly #component: Component;
  readonly confirm: Confirm;
  readonly #waiting = createWaiting();
  readonly #listeners: ((signerName: string, storeKey: string) => void)[] = [];
  readonly #outdated: OutdatedNames;
  /** Absent without a ledger. */
  readonly #recorded: RecordedNames | undefined;
  readonly #services: ServiceIndex;
  readonly #storedServices: ReturnType<typeof createStoredServices>;
  #served: readonly SignerObject[] = [];

  constructor(
    component: Component,
    regarding: (request: PodCertificateRequest) => EventObjects,
    ledger: LedgerReader | undefined,
  ) {
    this.#component = component;
    const { client, events, metrics } = component;
    this.confirm = createConfirm(client);
    this.#storedServices = createStoredServices(client);
    const say: SayOfPod = (request, said) => {
      events.record({ ...regarding(request), type: 'Warning', action: 'Issue', ...said });
    };
    this.#outdated = createOutdatedNames({
      now: () => serverTime(component),
      say,
      count: (signerName, leaves) => {
        // A removed signer's series must not come back.
        if (this.#isServed(signerName) && this.#recorded?.isCurrent(signerName) !== true)
          countOutdatedNames(metrics, signerName, { leaves, since: 'start' });
      },
    });
    this.#recorded =
      ledger &&
      createRecordedNames({
        component,
        ledger,
        signers: () => this.#served.filter(namesServices),
        areServicesListed: () => this.#services.isListed(),
        serviceOf: (namespace, name) => this.#services.get(namespace, name),
        say,
        count: (signerName, leaves) => {
          countOutdatedNames(metrics, signerName, { leaves, since: 'ledger' });
        },
        onAway: (signerName) => {
          if (!this.#isServed(signerName)) return;
          countOutdatedNames(metrics, signerName, { leaves: 0, since: 'start' });
          this.#outdated.sweep();
        },
      });
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

  async gatherStored(request: PodCertificateRequest): Promise<PodEvidence> {
    const { namespace = '' } = request.metadata;
    const [pod, services] = await Promise.all([
      readPod(this.#component.client, { namespace, name: request.spec.podName }, 'etcd'),
      this.#storedServices(namespace),
    ]);
    return { pod, services };
  }

  /**
   * Reads the pod of a request. Service names can use the API server's cache: {@link confirm}
   * verifies them before delivery, and {@link gatherStored} before a denial. Labels and addresses
   * need the stored pod, because they can cause a permanent denial.
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

  waits(request: PodCertificateRequest, { code }: SignerError): void {
    const { metadata, spec } = request;
    const { namespace = '' } = metadata;
    if (OF_SERVICES.includes(code)) this.#waiting.add(namespace, keyOf(metadata), spec.signerName);
    else this.#waiting.delete(namespace, keyOf(metadata));
    if (!WITHOUT_SERVICE.includes(code)) return;
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
    return isNeeded && failure !== undefined ? [messages.servicesUnlisted(failure)] : [];
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
  return [messages.shortServiceNames(kind, keyOf(metadata), found)];
}
