// SPDX-License-Identifier: Apache-2.0
/**
 * Somebody else's signer, which knows of Countersign what its package exports. Its CA's PEM texts
 * lie in a Secret; before it signs, it asks to be called again once, and leaves a condition.
 */
import {
  IssuerError,
  PendingError,
  PermanentError,
  SetConditionError,
  crd,
  defineAuthority,
  openCa,
  roles,
  run,
  type AuthorityDefinition,
  type Context,
  type Issuer,
  type RunOptions,
  type SignedCertificate,
  type SigningRequest,
} from 'countersign';

interface Config {
  readonly secret: string;
}

async function sign(
  request: SigningRequest,
  issuer: Issuer<Config>,
  ctx: Context,
): Promise<SignedCertificate> {
  if (request.template.commonName === 'nobody') throw new PermanentError('nobody gets nothing');
  if (request.csr !== undefined && !request.conditions.some(({ type }) => type === 'Ordered')) {
    throw new SetConditionError(
      { type: 'Ordered', status: 'True', reason: 'Ordered', message: `of ${issuer.name}` },
      new PendingError('the order is being worked on', { afterMs: 200 }),
    );
  }
  const data = await ctx.secret(issuer.config.secret);
  const text = (key: string): string => new TextDecoder().decode(data[key]);
  const ca = openCa({ certificate: text('tls.crt'), key: text('tls.key') }, ctx);
  return ca.sign(request, ctx);
}

const definition: AuthorityDefinition<Config> = {
  name: 'outsider',
  issuer: {
    group: 'outside.example.com',
    version: 'v1alpha1',
    kind: 'Outsider',
    plural: 'outsiders',
  },
  requests: ['CertificateSigningRequest', 'PodCertificateRequest', 'CertificateRequest'],
  schema: { parse: (value) => ({ secret: String((value as { secret?: unknown }).secret) }) },
  secrets: ({ secret }) => [secret],
  check: async ({ config }, ctx) => {
    const data = await ctx.secret(config.secret);
    if (data['tls.key'] === undefined) throw new IssuerError('the Secret has no tls.key');
  },
  sign,
};
const authority = defineAuthority(definition);

const [, , word, ...names] = process.argv;
const secrets = [{ namespace: 'outsider-keys', name: 'outsider-ca' }];
if (word === 'crd')
  process.stdout.write(
    crd(authority, { type: 'object', properties: { secret: { type: 'string' } } }),
  );
else if (word === 'roles')
  process.stdout.write(
    roles(authority, { signerNames: names, namespace: 'outsider-system', secrets }),
  );
else {
  const options: RunOptions = {
    secretNamespace: 'outsider-keys',
    listen: '127.0.0.1:0',
    logLevel: 'debug',
  };
  await run(authority, options);
}
