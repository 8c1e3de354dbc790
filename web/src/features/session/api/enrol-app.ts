import type { AuthFailure } from "@/lib/auth";
import { ownerBackend } from "@/lib/backend";
import type { Boot } from "@/lib/boot";
import { failureOf } from "@/features/session/failure";

/**
 * The enrolment of an authenticator app that is not verified yet. `qrCode` is a data URL. `secret` is the key that the owner can type
 * into the app instead of scanning the QR code.
 */
export type Enrolment = { id: string; qrCode: string; secret: string };

/**
 * Begins to enrol an authenticator app as a second factor, and removes earlier enrolments that were not finished. `issuer` is the
 * name that the app shows for the site.
 */
export async function enrolApp(
  boot: Boot,
  issuer: string,
): Promise<{ enrolment: Enrolment; error?: undefined } | { error: AuthFailure }> {
  try {
    const client = await ownerBackend(boot);
    const listed = await client.auth.mfa.listFactors();
    if (listed.error) return { error: failureOf(listed.error) };
    // The names of the factors that stay.
    const names = new Set<string>();
    for (const { id, status, factor_type, friendly_name } of listed.data.all) {
      if (status === "verified" || factor_type !== "totp") names.add(friendly_name ?? "");
      else await client.auth.mfa.unenroll({ factorId: id });
    }
    // The names of the factors of an account must differ, so this one is "App 1", or the first free number.
    let n = 1;
    while (names.has(`App ${n}`)) n++;
    const { data, error } = await client.auth.mfa.enroll({
      factorType: "totp",
      friendlyName: `App ${n}`,
      issuer: issuer.slice(0, 60),
    });
    if (error) return { error: failureOf(error) };
    const { qr_code: qrCode, secret } = data.totp;
    return { enrolment: { id: data.id, qrCode, secret } };
  } catch (error) {
    return { error: failureOf(error) };
  }
}
