// SPDX-License-Identifier: Apache-2.0
/**
 * A signer whose CA is a step-ca server: `spec.authority` says where it is and which of its JWK
 * provisioners vouches for us; a Secret has that provisioner's private key, `provisioner.jwk`, and
 * the server's root, `ca.crt`. `node step-ca.ts crd` and `… roles` print what the cluster needs;
 * without a word it works until SIGTERM.
 */
import { createPrivateKey, randomUUID, sign as signBytes, type JsonWebKey } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import {
  IssuerError,
  PermanentError,
  crd,
  defineAuthority,
  roles,
  run,
  type Context,
  type Issuer,
  type LeafTemplate,
  type SignedCertificate,
  type SigningRequest,
} from 'countersign';

interface Config {
  /** `https://…` of the server, as its own configuration has it: tokens are made out to it. */
  readonly url: string;
  /** The name of a JWK provisioner whose key is of P-256. */
  readonly provisioner: string;
  /** The Secret. */
  readonly secret: string;
}

interface Material {
  readonly root: string;
  readonly jwk: JsonWebKey & { readonly kid?: string };
}

/** Kept for each version of an issuer's spec; `check` reads it again. */
const materials = new WeakMap<Config, Material>();

async function read(config: Config, ctx: Context): Promise<Material> {
  const data = await ctx.secret(config.secret);
  const text = (name: string): string => new TextDecoder().decode(data[name]);
  const material = { root: text('ca.crt'), jwk: JSON.parse(text('provisioner.jwk')) as JsonWebKey };
  createPrivateKey({ key: material.jwk, format: 'jwk' });
  materials.set(config, material);
  return material;
}

async function check({ config }: Issuer<Config>, ctx: Context): Promise<void> {
  const { root } = await read(config, ctx);
  const { status } = await ask(new URL('/health', config.url), root, ctx);
  if (status !== 200) throw new Error(`step-ca says ${status} of its health`);
}

async function sign(
  { csr, template, uid }: SigningRequest,
  { config }: Issuer<Config>,
  ctx: Context,
): Promise<SignedCertificate> {
  if (csr === undefined) throw new PermanentError('step-ca wants a PKCS#10 request');
  const { root, jwk } = materials.get(config) ?? (await read(config, ctx));
  const url = new URL('/1.0/sign', config.url);
  const claims = {
    aud: url.href,
    iss: config.provisioner,
    sub: template.commonName || uid,
    sans: sansOf(template).map(({ value }) => value),
    leaf: leafOf(template),
  };
  const { status, body } = await ask(url, root, ctx, {
    csr,
    ott: oneTimeToken(claims, jwk, ctx.now()),
    notBefore: new Date(template.notBefore).toISOString(),
    notAfter: new Date(template.notAfter).toISOString(),
  });
  if (status === 201) return { chain: (body.certChain ?? []).join('\n'), anchors: root };
  const message = `step-ca: ${status}: ${body.message ?? ''}`;
  // It doubts the token: no request can help that.
  if (status === 401) throw new IssuerError(message);
  if (status === 400 || status === 403) throw new PermanentError(message);
  throw new Error(message);
}

interface Answer {
  readonly status: number;
  readonly body: { readonly certChain?: readonly string[]; readonly message?: string };
}

/**
 * One request to the server: POST where it has content. Whether it is away or somebody else: not
 * ready.
 */
function ask(url: URL, ca: string, { signal }: Context, content?: object): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const failed = (cause: Error & { readonly code?: string }): void => {
    // A refused connection to several addresses has a code and no message.
    const text = cause.message || (cause.code ?? cause.name);
    reject(new IssuerError(`step-ca cannot be asked: ${text}`, { cause }));
  };
  const method = content === undefined ? 'GET' : 'POST';
  const asked = httpsRequest(url, { method, signal, ca }, (answer) => {
    const { statusCode: status = 0 } = answer;
    bounded(answer)
      .then((body) => resolve({ status, body: JSON.parse(body) as Answer['body'] }))
      .catch(failed);
  });
  asked.on('error', failed);
  asked.end(content === undefined ? '' : JSON.stringify(content));
  return promise;
}

/** A chain has a few KiB: a server that sends more must not fill our memory. */
const MAX_ANSWER = 1 << 20;

async function bounded(answer: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of answer as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > MAX_ANSWER) throw new Error(`it answers with more than ${MAX_ANSWER} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

/** What the server signs by: a JWT of the provisioner's that is good once, for a minute. */
function oneTimeToken(claims: object, jwk: Material['jwk'], now: number): string {
  const iat = Math.floor(now / 1000);
  const times = { iat, nbf: iat, exp: iat + 60 };
  const part = (of: object): string => Buffer.from(JSON.stringify(of)).toString('base64url');
  const head = part({ alg: 'ES256', typ: 'JWT', kid: jwk.kid });
  const signed = `${head}.${part({ ...claims, ...times, jti: randomUUID() })}`;
  const key = createPrivateKey({ key: jwk, format: 'jwk' });
  const signature = signBytes('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' });
  return `${signed}.${signature.toString('base64url')}`;
}

const KEY_USAGES = /^(digital signature|content commitment|(key|data) encipherment|key agreement)$/;

function sansOf(template: LeafTemplate): readonly { type: string; value: string }[] {
  const { dnsNames, ipAddresses, uris, emails } = template;
  const all = { dns: dnsNames, ip: ipAddresses, uri: uris, email: emails };
  return Object.entries(all).flatMap(([type, values]) => values.map((value) => ({ type, value })));
}

// The provisioner's template, `options.x509.template`, lets the token say what a leaf holds:
//   {"subject": {{ toJson .Token.leaf.subject }}, "sans": {{ toJson .Token.leaf.sans }},
//   "keyUsage": {{ toJson .Token.leaf.keyUsage }}, "extKeyUsage": {{ toJson .Token.leaf.extKeyUsage
//   }}}
/** In the words of step-ca's templates; usages are the API's in camel case. */
function leafOf(template: LeafTemplate): object {
  const { commonName, organizations, organizationalUnits, usages } = template;
  const camel = (of: string): string =>
    of.replaceAll(/ (\w)/g, (_, letter: string) => letter.toUpperCase());
  return {
    subject: { commonName, organization: organizations, organizationalUnit: organizationalUnits },
    sans: sansOf(template),
    keyUsage: usages.filter((each) => KEY_USAGES.test(each)).map(camel),
    extKeyUsage: usages.filter((each) => !KEY_USAGES.test(each)).map(camel),
  };
}

const authority = defineAuthority<Config>({
  name: 'step-ca-signer',
  issuer: { group: 'step.example.com', version: 'v1', kind: 'StepIssuer', plural: 'stepissuers' },
  requests: ['CertificateSigningRequest', 'PodCertificateRequest', 'CertificateRequest'],
  // step-ca says in each leaf which provisioner vouched for it (stepOIDProvisioner in its
  // certificates package).
  allowedExtensions: ['1.3.6.1.4.1.37476.9000.64.1'],
  schema: {
    parse: (value) => {
      const { url, provisioner, secret } = value as Partial<Config>;
      if (url?.startsWith('https://') !== true) throw new PermanentError('url must be https://…');
      if (provisioner === undefined || secret === undefined)
        throw new PermanentError('provisioner and secret must be there');
      return { url, provisioner, secret };
    },
  },
  secrets: ({ secret }) => [secret],
  check,
  sign,
});

const { KUBECONFIG, NAMESPACE = 'step-signer', SECRETS = 'step-keys/step-ca' } = process.env;
const [secretNamespace = '', name = ''] = SECRETS.split('/');
const [, , word, ...signerNames] = process.argv;
if (word === 'crd') process.stdout.write(crd(authority));
else if (word === 'roles') {
  const secrets = [{ namespace: secretNamespace, name }];
  process.stdout.write(roles(authority, { signerNames, namespace: NAMESPACE, secrets }));
} else {
  const kubeconfig = KUBECONFIG === undefined ? {} : { kubeconfig: KUBECONFIG };
  await run(authority, { listen: '127.0.0.1:0', secretNamespace, ...kubeconfig });
}
