// Types for the parts of the package samlp that the tests use. The package has none.
declare module "samlp" {
  import type { IncomingMessage } from "node:http";

  export type Request = IncomingMessage & {
    query: Record<string, string>;
    originalUrl: string;
    protocol: string;
  };
  export type Response = {
    set(name: string, value: string): void;
    send(body: string | number): void;
  };
  type Handler = (req: Request, res: Response, next: (error?: Error) => void) => void;
  export type Profile = {
    id: string;
    emails: { value: string }[];
    displayName: string;
    name: { givenName: string; familyName: string };
  };
  export type Options = {
    issuer: string;
    cert: string;
    key: string;
    destination: string;
    recipient: string;
    nameIdentifierFormat: string;
    sessionIndex: string;
    inResponseTo?: string;
    audience?: string;
    RelayState?: string;
    signingCert?: string;
    signResponse?: boolean;
    signAssertion?: boolean;
    encryptionCert?: string;
    encryptionPublicKey?: string;
    encryptionAlgorithm?: string;
    disallowEncryptionWithInsecureAlgorithm?: boolean;
    signatureAlgorithm?: string;
    digestAlgorithm?: string;
    getPostURL: (
      audience: string,
      request: unknown,
      req: Request,
      done: (error: Error | null, url: string) => void,
    ) => void;
    getUserFromRequest: () => Profile;
  };
  const samlp: {
    auth(options: Options): Handler;
    metadata(options: { issuer: string; cert: string; redirectEndpointPath: string }): Handler;
    getSamlResponse(
      options: Omit<Options, "getPostURL" | "getUserFromRequest">,
      user: Profile,
      done: (error: Error | null, response: string) => void,
    ): void;
  };
  export default samlp;
}
