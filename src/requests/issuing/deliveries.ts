// SPDX-License-Identifier: Apache-2.0
/** Redelivery: each leaf is signed once and written once, however often its delivery is retried. */
import { keyOf } from '#api/object/object.ts';
import { BoundedMap } from '#base/bounded-map.ts';
import type { Resource } from '#kube/resource/resource.ts';
import { requireClocks } from '#component/server-time.ts';
import type { RequestOutcome } from '../loop/outcome.ts';
import { writeSubresource, type SubresourceWrite } from '../loop/subresource-write.ts';
import type { LeafRecord } from '../recording/leaf-record.ts';
import type { RecordingComponent } from '../recording/recorder.ts';
import type { RequestFacts } from '../recording/request-record.ts';
import type { CertificateTemplate, IssuedChain } from './issuing-ca.ts';
import { deliveredChain, readStored, type DeliverableRequest } from './stored-request.ts';

/**
 * Maximum number of chains, of some three KiB each, so that an API server that accepts no writes
 * cannot exhaust our memory. Beyond it the oldest chain is evicted. Its request may be signed
 * again, and the precondition lets one write succeed.
 */
const MAX_UNDELIVERED = 10_000;

/** A signed leaf that may not be delivered yet. */
export interface KeptLeaf<I extends IssuedChain> {
  readonly template: CertificateTemplate;
  /** The holder, as a Revocation names it. */
  readonly requester: RequestFacts['requester'];
  /** Contents of the status, the same in each delivery, including randomly chosen values. */
  readonly issued: I;
  /** Milliseconds, by the API server's clock, at which the leaf became deliverable. */
  readonly since: number;
  /** Signer and CA of the leaf, from {@link signingContextOf}. */
  readonly signingContext: string;
  /** Text on what the leaf omits of the request, for an Event. */
  readonly omitted?: string | undefined;
  /** Undefined if the component has no ledger. */
  readonly record: LeafRecord | undefined;
}

/** The current request and the leaf of an earlier attempt. */
export type ReadRequest<T, I extends IssuedChain> =
  | { readonly request: T; readonly leaf: KeptLeaf<I> | undefined }
  /** The request needs no answer any more. */
  | { readonly outcome: RequestOutcome };

interface UndeliveredLeaf<I extends IssuedChain> extends KeptLeaf<I> {
  /** UID of the request. */
  readonly uid: string;
  /** Path of the request. */
  readonly path: string;
}

/** The name belongs to another request now, or to none. */
export const GONE: RequestOutcome = { outcome: 'ignored', reason: 'Gone' };

/** Keeps the signed leaves of one kind of requests until they are delivered. */
export class Deliveries<T extends DeliverableRequest, I extends IssuedChain> {
  readonly #component: RecordingComponent;
  /** Leaves by `namespace/name` of the request. */
  readonly #undelivered = new BoundedMap<string, UndeliveredLeaf<I>>(MAX_UNDELIVERED);

  constructor(component: RecordingComponent) {
    this.#component = component;
  }

  /**
   * Reads the request. The cache is enough, unless an earlier attempt signed a leaf. Then the cache
   * may be older than our own write, so the request is read from the API server.
   *
   * @param seen - the cached request
   * @param isFinished - reports whether it has its final answer, to which no component may add
   * @throws SignerError CLOCKS_APART while signing is forbidden
   * @throws KubeError
   */
  async read(
    seen: T,
    via: Resource,
    isFinished: (request: T) => boolean,
  ): Promise<ReadRequest<T, I>> {
    const component = this.#component;
    await requireClocks(component, () => readStored(component.client, via.object(seen.metadata)));
    const leaf = this.#of(seen);
    if (leaf === undefined) return { request: seen, leaf };
    const request = await readStored<T>(component.client, via.object(seen.metadata));
    if (request?.metadata.uid === leaf.uid && !isFinished(request)) return { request, leaf };
    this.#undelivered.delete(keyOf(seen.metadata));
    return { outcome: conclude(leaf, request) };
  }

  /**
   * Stores a leaf before it is sent.
   *
   * @param via - the resource through which its request was read
   */
  keep(request: T, via: Resource, leaf: KeptLeaf<I>): KeptLeaf<I> {
    const { metadata } = request;
    const undelivered = { ...leaf, uid: metadata.uid, path: via.object(metadata) };
    const key = keyOf(metadata);
    const before = this.#undelivered.get(key);
    // The request was deleted, and another one has its name.
    if (before !== undefined && before.uid !== metadata.uid) conclude(before, undefined);
    this.#undelivered.set(key, undelivered);
    return undelivered;
  }

  /** Drops the leaf of a request, which will not be delivered. */
  drop(request: T): void {
    const leaf = this.#of(request);
    if (leaf === undefined) return;
    leaf.record?.abandoned();
    this.#undelivered.delete(keyOf(request.metadata));
  }

  /**
   * Delivers a leaf with one write. After a failure the leaf stays for the next attempt.
   *
   * @param answered - the request with its answer
   * @returns the request as the API server stored it
   * @throws KubeError
   */
  async write(leaf: KeptLeaf<I>, answered: T, put: SubresourceWrite): Promise<T> {
    const { record } = leaf;
    const written = await writeSubresource(this.#component.client, answered, put).catch(
      (error: unknown) => {
        record?.failed(error);
        throw error;
      },
    );
    record?.delivered();
    leaf.issued.settled?.();
    // Another request of this name may have its leaf here by now.
    if (this.#of(answered) !== undefined) this.#undelivered.delete(keyOf(answered.metadata));
    return written;
  }

  /**
   * Drops the leaf of the request `namespace/name`, which is no longer pending. If the ledger has
   * the leaf without its result, reads the request first, since the response to the delivery may be
   * lost.
   *
   * @throws KubeError if the leaf is not dropped yet
   */
  readonly forget = async (key: string): Promise<void> => {
    const leaf = this.#undelivered.get(key);
    const isOpen = leaf?.record?.isOpen === true;
    const request = isOpen ? await readStored<T>(this.#component.client, leaf.path) : undefined;
    // Another request of this name may have arrived meanwhile.
    if (leaf === undefined || this.#undelivered.get(key) !== leaf) return;
    this.#undelivered.delete(key);
    conclude(leaf, request);
  };

  #of({ metadata }: T): UndeliveredLeaf<I> | undefined {
    const leaf = this.#undelivered.get(keyOf(metadata));
    return leaf?.uid === metadata.uid ? leaf : undefined;
  }
}

/**
 * Concludes a request that needs no delivery any more.
 *
 * @param request - the stored request
 */
function conclude(
  { uid, issued, record }: Pick<UndeliveredLeaf<IssuedChain>, 'uid' | 'issued' | 'record'>,
  request: DeliverableRequest | undefined,
): RequestOutcome {
  issued.settled?.();
  if (request?.metadata.uid !== uid) {
    record?.abandoned();
    return GONE;
  }
  if (deliveredChain(request) !== issued.chain) {
    record?.abandoned();
    // Another replica answered it. The cache needs its answer, or the request is signed again.
    return { ...GONE, changed: request };
  }
  record?.delivered();
  return { outcome: 'issued', reason: 'Issued', written: request };
}
