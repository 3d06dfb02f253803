// SPDX-License-Identifier: Apache-2.0
/** Requests and responses of the aggregated API. */

/** A request, as the API server forwards it. */
export interface ApiRequest {
  /** The path with its query, as it was sent. */
  readonly url: string;
  readonly method: string;
  /** Values by name in lower case. Non-ASCII bytes are decoded as Latin-1. */
  readonly headers: Readonly<Record<string, readonly string[] | undefined>>;
  /** The client's certificate. Absent if TLS has not verified one. */
  readonly certificate?: ClientCertificate;
  /** IP address of the client. */
  readonly address?: string;
  /** Body of a POST. */
  readonly body?: string;
  /** Resolves when the client has read the answer, or has left. Default: with the answer. */
  readonly closed?: Promise<void>;
}

/** The certificate that authenticates a client. */
export interface ClientCertificate {
  readonly commonName: string;
  /** DER. */
  readonly raw: Uint8Array;
}

/** A response: JSON, or the bytes of a file. */
export interface ApiAnswer {
  readonly status: number;
  readonly body: string | Uint8Array;
  /** Time after which a refused client may send the request again. */
  readonly retryAfterSeconds?: number;
}

/** A search takes less, and client-go waits so long before it repeats a request. */
const RETRY_SECONDS = 1;

const REASONS: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  409: 'Conflict',
  410: 'Gone',
  413: 'RequestEntityTooLarge',
  429: 'TooManyRequests',
  503: 'ServiceUnavailable',
};

/** Returns an error in the format of Kubernetes clients (meta/v1 Status). */
export function failure(code: number, message: string): ApiAnswer {
  const retry = code === 429 ? { retryAfterSeconds: RETRY_SECONDS } : undefined;
  const answer = json(code, {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason: REASONS[code] ?? 'InternalError',
    code,
    ...(retry === undefined ? {} : { details: retry }),
  });
  return { ...answer, ...retry };
}

/** Returns a response in JSON. */
export function json(status: number, body: object): ApiAnswer {
  return { status, body: JSON.stringify(body) };
}
