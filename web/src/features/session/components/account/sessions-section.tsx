import { useState } from "react";
import { useQueryClient } from "@tanstack/react-query";
import { AdminGroup } from "@/components/layout/admin-group";
import { AdminListState } from "@/components/layout/admin-list-state";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import {
  endOtherSessions,
  endSession,
  SESSIONS_KEY,
  useAccountSessions,
} from "@/features/session/api/sessions";
import { deviceText } from "@/features/session/device-text";
import { failureText } from "@/features/session/failure-text";
import type { AuthFailure } from "@/lib/auth";
import { useBoot } from "@/lib/boot";
import { dateTime } from "@/lib/owner-dates";
import { useLanguage, useT } from "@/lib/i18n";
import { refetch } from "@/lib/refetch";
import { stackedToast } from "@/lib/toast";

/**
 * The list of the account's sessions (sign-ins). Each session has a button that ends it. A further button ends all sessions except
 * the one of this browser.
 */
export function SessionsSection() {
  const t = useT();
  const { language } = useLanguage();
  const boot = useBoot();
  const queryClient = useQueryClient();
  const sessions = useAccountSessions();
  // The id of the session that is being ended, or "others".
  const [ending, setEnding] = useState<string>();

  /** Calls `end`, which ends sessions, and shows the result in a toast. `which` is the id of a session, or "others". */
  async function endAndReport(
    which: string,
    end: () => Promise<{ error?: AuthFailure }>,
    successTitle: string,
  ) {
    setEnding(which);
    const { error } = await end();
    if (error) {
      stackedToast({
        title: t("account.sessions.failed"),
        description: failureText(t, error),
        destructive: true,
      });
    } else stackedToast({ title: successTitle });
    await refetch(queryClient, SESSIONS_KEY);
    setEnding(undefined);
  }

  return (
    <AdminGroup title={t("account.sessions.title")} intro={t("account.sessions.intro")}>
      <AdminListState query={sessions} empty={t("account.sessions.none")}>
        {(rows) => (
          <div>
            <ul className="border-line border-t">
              {rows.map((session) => (
                <li
                  key={session.id}
                  className="border-line flex flex-wrap items-center justify-between gap-x-6 gap-y-2 border-b py-3"
                >
                  <div className="min-w-0">
                    <p className="flex flex-wrap items-center gap-x-3 gap-y-1 font-[520]">
                      {deviceText(t, session.device)}
                      {session.current && (
                        <Badge tone="indigo">{t("account.sessions.current")}</Badge>
                      )}
                    </p>
                    <p className="text-ink2 text-sm break-words">
                      {t("account.sessions.used", {
                        time: dateTime(session.refreshed_at, language),
                        ip: session.ip,
                      })}
                    </p>
                  </div>
                  {!session.current && (
                    <Button
                      variant="outline"
                      size="sm"
                      loading={ending === session.id}
                      aria-label={t("account.sessions.endNamed", {
                        device: deviceText(t, session.device),
                      })}
                      onClick={() =>
                        void endAndReport(
                          session.id,
                          () => endSession(boot, session.id),
                          t("account.sessions.ended"),
                        )
                      }
                    >
                      {t("account.sessions.end")}
                    </Button>
                  )}
                </li>
              ))}
            </ul>
            <Button
              variant="outline"
              size="sm"
              className="mt-5"
              disabled={rows.every(({ current }) => current)}
              loading={ending === "others"}
              onClick={() =>
                void endAndReport(
                  "others",
                  () => endOtherSessions(boot),
                  t("account.sessions.othersEnded"),
                )
              }
            >
              {t("account.sessions.endOthers")}
            </Button>
          </div>
        )}
      </AdminListState>
    </AdminGroup>
  );
}
