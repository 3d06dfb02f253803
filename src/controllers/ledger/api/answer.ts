// SPDX-License-Identifier: Apache-2.0
/** What goes in and out of the aggregated API. */

/** A request as the API server passes it on. */
export interface ApiRequest {
  /** The path with its query, as it was sent. */
  readonly url: string;
  readonly method: string;
  /** By name in lower case, each with all its values; bytes that are no ASCII as Latin-1. */
  readonly headers: Readonly<Record<string, readonly string[] | undefined>>;
  /** Of the client's certificate; absent where TLS has not verified one. */
  readonly certificate?: ClientCertificate;
  /** Of a POST. */
  readonly body?: string;
}

/** The certificate by which a client has proved who it is. */
export interface ClientCertificate {
  readonly commonName: string;
  /** DER. */
  readonly raw: Uint8Array;
}

/** An answer: JSON, or the bytes of a file. */
export interface ApiAnswer {
  readonly status: number;
  readonly body: string | Uint8Array;
}

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
  503: 'ServiceUnavailable',
};

/** An error as all clients of Kubernetes read it (meta/v1 Status). */
export function failure(code: number, message: string): ApiAnswer {
  return json(code, {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason: REASONS[code] ?? 'InternalError',
    code,
  });
}

/** An answer in JSON. */
export function json(status: number, body: object): ApiAnswer {
  return { status, body: JSON.stringify(body) };
}
