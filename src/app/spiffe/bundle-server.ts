// SPDX-License-Identifier: Apache-2.0
/** Apart from its flags: only `bundle-endpoint` loads the server. */
import type { IncomingMessage, RequestListener } from 'node:http';
import { SignerError, attempt } from '../../errors.ts';
import { decodeCertificate } from '../../pki/x509/certificate.ts';
import { certificateBlocks } from '../../pki/x509/trust-bundle.ts';
import type { Log } from '../../ports.ts';
import { svidFault } from '../../spiffe/svid.ts';
import { serveTls, type HttpsServer, type TlsInit } from '../../web/https-server.ts';
import { sendShort, type ShortAnswer } from '../../web/server.ts';
import { clock, delay } from '../process.ts';
import {
  ENDPOINT_PROFILES,
  type EndpointOptions,
  type EndpointProfile,
} from './endpoint-options.ts';

/** The ports of a bundle endpoint. */
export interface EndpointPorts {
  /** By profile. */
  readonly ports: ReadonlyMap<EndpointProfile, number>;
  warnings(): readonly string[];
  /** Serves until `signal` is aborted. */
  run(signal: AbortSignal): Promise<void>;
}

/** What the ports answer from. */
export interface EndpointAnswers {
  /** A bundle as JSON; undefined: it cannot be served now. */
  readonly documentOf: (trustDomain: string) => string | undefined;
  readonly onAnswered: (profile: EndpointProfile, status: number) => void;
  /** A certificate is in use until then: Unix seconds. */
  readonly onCertificate: (profile: EndpointProfile, notAfter: number) => void;
}

/** Consumers look every few minutes, each on a connection of its own. */
const MOST_CONNECTIONS = 1_024;

/**
 * Opens the port of each profile (SPIFFE Federation §5.2.1.3, §5.2.2.3): GET of `/<trust domain>/bundle.json`, for
 * whoever asks.
 *
 * @throws SignerError USAGE if one cannot be opened
 */
export async function openEndpointPorts(
  options: EndpointOptions,
  answers: EndpointAnswers,
  log: Log,
): Promise<EndpointPorts> {
  const profiles = options.profile.length === 0 ? ENDPOINT_PROFILES : new Set(options.profile);
  const servers = new Map<EndpointProfile, HttpsServer>();
  for (const profile of profiles) {
    const listener = listenerOf(options, profile, answers);
    servers.set(profile, await serveTls({ ...tlsOf(options, profile, answers), log }, listener));
  }
  return {
    ports: new Map([...servers].map(([profile, { port }]) => [profile, port])),
    warnings: () =>
      [...servers].flatMap(([profile, server]) =>
        server.warnings().map((each) => `${profile}: ${each}`),
      ),
    run: async (signal) => {
      await Promise.all([...servers.values()].map((each) => each.run(signal)));
    },
  };
}

function tlsOf(
  options: EndpointOptions,
  profile: EndpointProfile,
  { onCertificate }: EndpointAnswers,
): Omit<TlsInit, 'log'> {
  const { listenWeb, webCertificate, listenSpiffe, svid } = options;
  const common = {
    ...{ clock, delay, mostConnections: MOST_CONNECTIONS },
    clients: 'intermediate',
    measureNotAfter: (seconds: number) => {
      onCertificate(profile, seconds);
    },
  } as const;
  return profile === 'https_web'
    ? { ...common, listen: listenWeb, flag: '--listen-web', directory: webCertificate }
    : {
        ...{ ...common, listen: listenSpiffe, flag: '--listen-spiffe' },
        ...{ directory: svid, refuse: refuseSvid },
      };
}

/** A consumer would refuse it as well. */
function refuseSvid(pem: string): string | undefined {
  const [leaf] = certificateBlocks(pem);
  if (leaf === undefined) return 'tls.crt holds no certificate';
  const certificate = attempt(() => decodeCertificate(leaf));
  const fault = certificate instanceof SignerError ? certificate.message : svidFault(certificate);
  return fault === undefined ? undefined : `tls.crt is no X509-SVID: ${fault}`;
}

const PATH = /^\/(?<domain>[a-z0-9._-]{1,255})\/bundle\.json$/;
const NOT_FOUND: ShortAnswer = { status: 404, body: 'not found\n' };

function listenerOf(
  { trustDomain }: EndpointOptions,
  profile: EndpointProfile,
  { documentOf, onAnswered }: EndpointAnswers,
): RequestListener {
  return (request, response) => {
    const domain = domainIn(request);
    const isServed = domain !== undefined && trustDomain.has(domain);
    const answer = isServed ? answerTo(request, documentOf(domain)) : NOT_FOUND;
    sendShort(request, response, answer);
    onAnswered(profile, answer.status);
  };
}

function domainIn({ url = '' }: IncomingMessage): string | undefined {
  const [path = ''] = url.split('?', 1);
  return PATH.exec(path)?.groups?.['domain'];
}

function answerTo({ method }: IncomingMessage, document: string | undefined): ShortAnswer {
  if (method !== 'GET' && method !== 'HEAD')
    return { status: 405, body: 'method not allowed\n', headers: { allow: 'GET, HEAD' } };
  if (document === undefined)
    return { status: 503, body: 'not available\n', headers: { 'retry-after': '60' } };
  return { status: 200, body: document, headers: { 'content-type': 'application/json' } };
}
