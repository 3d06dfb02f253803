// SPDX-License-Identifier: Apache-2.0
/**
 * Reaches the ledger with the user's permissions (ADR 0056). An aggregated API receives the
 * username from the API server. Without aggregation, this client signs each request by a key for
 * which the API server recorded the username.
 */
import type { KeyObject } from 'node:crypto';
import { CSR_RESOURCE, type CertificateSigningRequest } from '#api/request/csr.ts';
import type { ConfigMap } from '#api/object/object.ts';
import {
  LEDGER_API,
  LEDGER_PROXY_NAME,
  LEDGER_SERVICE,
  OWN_TLS_CONFIG_MAP,
  READER_SIGNER,
} from '#api/signer/own-tls.ts';
import { monotonic } from '#app/process.ts';
import {
  READER_HEADER,
  READER_SECONDS,
  signRequest,
  SIGNATURE_HEADER,
} from '#ledger/ledger/api/signed-request.ts';
import { messageOf, SignerError, usageError } from '#base/errors.ts';
import { createClient, type Body, type Client, type RequestInit } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { bodyOf, queryText } from '#kube/client/request.ts';
import { CONFIG_MAPS } from '#kube/resource/core-v1.ts';
import { resource } from '#kube/resource/resource.ts';
import { encodePem } from '#pki/der/pem.ts';
import { generatePrivateKey } from '#pki/keys/private-key.ts';
import { encodeRequest } from '#pki/x509/encode-request.ts';
import { LedgerUnreadError } from './sources/ledger-records.ts';

/** Address of the ledger. */
export interface LedgerEndpoint {
  /** Namespace of the components. */
  readonly namespace: string;
  /** URL of its port, `https://host:port`. Absent: through the API server. */
  readonly url?: string | undefined;
  readonly userAgent: string;
  /** True if the command must write nothing. Then it creates no pass. */
  readonly isDryRun?: boolean | undefined;
}

/** Proof of the sender's identity in a request. */
interface Pass {
  readonly name: string;
  readonly uid: string;
  readonly key: KeyObject;
}

type Send<R> = (client: Client, init: RequestInit) => Promise<R>;

const REQUESTS = resource(CSR_RESOURCE);
/** Path of the ledger that answers 401 to a request without a signature. */
const LEDGER_ROOT = `/apis/${LEDGER_API.group}/${LEDGER_API.version}`;
/** Time after which the client creates a new pass, before the ledger rejects the old one. */
const RENEWED_AFTER_MS = READER_SECONDS * 800;

/**
 * Sends signed requests to the ledger's API. The ledger receives no credential for the API server.
 */
export class LedgerClient {
  readonly #client: Client;
  readonly #place: LedgerEndpoint;
  #pass: Promise<Pass> | undefined;
  /** Time of the next pass, by the monotonic clock. */
  #until = 0;
  #direct: Promise<Client> | undefined;
  /** Paths of the CertificateSigningRequests that this client created. */
  readonly #created: string[] = [];

  /** @param client - to the API server, as the user */
  constructor(client: Client, place: LedgerEndpoint) {
    this.#client = client;
    this.#place = place;
  }

  /** @throws KubeError, or SignerError KUBE_FORBIDDEN for a user without access to the ledger */
  request<T>(init: RequestInit): Promise<T> {
    return this.#signed(init, (client, signed) => client.request<T>(signed));
  }

  /**
   * Does the same for the bytes of a file.
   *
   * @throws the errors of {@link request}
   */
  stream(init: RequestInit): Promise<Body> {
    return this.#signed(init, (client, signed) => client.stream(signed));
  }

  async #signed<R>(init: RequestInit, send: Send<R>): Promise<R> {
    try {
      return await this.#send(init, await this.#current(), send);
    } catch (error) {
      // The pass's object was deleted or denied, or the ledger's clock is ahead.
      if (!(error instanceof KubeError) || error.status !== 401) throw error;
      this.#pass = undefined;
      return this.#send(init, await this.#current(), send);
    }
  }

  async close(): Promise<void> {
    // Few users may delete them. kube-controller-manager deletes the rest after a day.
    for (const path of this.#created.splice(0)) {
      await this.#client.request({ method: 'DELETE', path }).catch(() => undefined);
    }
    await (await this.#direct)?.close();
  }

  async #send<R>(init: RequestInit, { name, uid, key }: Pass, send: Send<R>): Promise<R> {
    const body = init.body === undefined ? '' : String(bodyOf(init.body));
    const url = init.path + queryText(init.query);
    const signature = signRequest({ uid, method: init.method, url, body }, key);
    const headers = { [READER_HEADER]: name, [SIGNATURE_HEADER]: signature };
    return this.#toLedger({ ...init, headers }, send);
  }

  async #toLedger<R>(init: RequestInit, send: Send<R>): Promise<R> {
    const sent = { ...init, isAggregated: true };
    if (this.#place.url !== undefined) return send(await this.#opened(), sent);
    const service = `/api/v1/namespaces/${encodeURIComponent(this.#place.namespace)}/services`;
    const path = `${service}/${LEDGER_PROXY_NAME}/proxy${init.path}`;
    return send(this.#client, { ...sent, path }).catch(withRole);
  }

  /**
   * Sends a request without a pass, which a ledger answers with 401. Any other error is thrown
   * before the client creates an object that nothing would read.
   */
  async #assertReachable(): Promise<void> {
    try {
      const init = { method: 'GET', path: LEDGER_ROOT } as const;
      await this.#toLedger(init, (client, sent) => client.request(sent));
    } catch (error) {
      if (!(error instanceof KubeError) || error.status !== 401) throw error;
    }
  }

  /** Returns one pass for concurrent requests. */
  #current(): Promise<Pass> {
    if (this.#pass === undefined || this.#until <= monotonic()) {
      this.#until = monotonic() + RENEWED_AFTER_MS;
      const made = this.#made();
      this.#pass = made;
      made.catch(() => {
        this.#pass = undefined;
      });
    }
    return this.#pass;
  }

  async #made(): Promise<Pass> {
    await this.#assertReachable();
    if (this.#place.isDryRun === true) throw new LedgerUnreadError();
    const { key } = await generatePrivateKey('ECDSAP256');
    const sans = { dnsNames: [], ipAddresses: [], uris: [], emails: [] };
    const der = encodeRequest({
      subject: { commonName: 'ledger reader', organizations: [], organizationalUnits: [] },
      sans,
      key,
    });
    const request = Buffer.from(encodePem('CERTIFICATE REQUEST', der)).toString('base64');
    const spec = {
      request,
      signerName: READER_SIGNER,
      usages: ['client auth'],
      expirationSeconds: READER_SECONDS,
    };
    const body = {
      apiVersion: REQUESTS.apiVersion,
      kind: 'CertificateSigningRequest',
      metadata: { generateName: 'ledger-reader-' },
      spec,
    };
    const init = { method: 'POST', path: REQUESTS.collection(), body } as const;
    const { metadata } = await this.#client
      .request<CertificateSigningRequest>(init)
      .catch(withRole);
    this.#created.push(REQUESTS.object({ name: metadata.name }));
    return { name: metadata.name, uid: metadata.uid, key };
  }

  /** Returns a client with only the CA, and without a token to send. */
  #opened(): Promise<Client> {
    this.#direct ??= this.#connected();
    return this.#direct;
  }

  async #connected(): Promise<Client> {
    const { namespace, url = '', userAgent } = this.#place;
    if (!/^https:\/\/[^/]+\/?$/.test(url)) {
      throw usageError('--ledger-url: write https://host:port, such as https://127.0.0.1:8443');
    }
    const path = CONFIG_MAPS.object({ namespace, name: OWN_TLS_CONFIG_MAP });
    const { data } = await this.#client.request<ConfigMap>({ method: 'GET', path }).catch(withRole);
    const ca = data?.['ca.crt'] ?? '';
    if (ca === '') {
      const message = `ConfigMap ${namespace}/${OWN_TLS_CONFIG_MAP} has no CA of the ledger yet: authority writes it`;
      throw new SignerError({ code: 'LEDGER_UNAVAILABLE', disposition: 'retry', message });
    }
    const credentials = { tls: { ca, servername: `${LEDGER_SERVICE}.${namespace}.svc` } };
    const connection = {
      server: url.replace(/\/$/, ''),
      credentials: () => Promise.resolve(credentials),
      invalidate: () => undefined,
    };
    return createClient({ connection, clock: Date.now, monotonic, userAgent });
  }
}

/**
 * Names the role that permits requests to the ledger. Denials of the ledger itself name their own
 * role.
 */
function withRole(error: unknown): never {
  const isForbidden = error instanceof KubeError && error.status === 403;
  if (!isForbidden || error.message.includes(`.${LEDGER_API.group}`)) throw error;
  throw new SignerError({
    code: 'KUBE_FORBIDDEN',
    disposition: 'wait',
    cause: error,
    message: `${messageOf(error)}; requests to the ledger need ClusterRole countersign-ledger-client, bound by a ClusterRoleBinding`,
  });
}
