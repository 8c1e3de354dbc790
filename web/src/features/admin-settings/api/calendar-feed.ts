import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { Language } from "@/lib/boot";
import { useOwnerBackend, type OwnerBackend } from "@/lib/backend";
import { callFunction } from "@/lib/call-function";
import type { CalendarFeed } from "@/lib/types";

const CALENDAR_KEY = ["calendar-feed"] as const;

type CalendarAction = { action: "create" | "replace"; language: Language } | { action: "remove" };

/** Calls the function calendar-feed and returns the calendar that it responds with. An empty body changes nothing. */
async function callCalendar(backend: OwnerBackend, body: object, signal?: AbortSignal) {
  const { calendar } = await callFunction<{ calendar: CalendarFeed | null }>(
    backend,
    "calendar-feed",
    body,
    signal,
  );
  return calendar;
}

/**
 * Fetches the calendar of the owner's account: the promised dates of commissions, at a secret URL for calendar programs. The
 * result is null if there is no calendar.
 */
export function useCalendarFeed() {
  const backend = useOwnerBackend();
  return useQuery({
    queryKey: CALENDAR_KEY,
    staleTime: 0,
    gcTime: 0, // the cache does not keep the secret URL after the page was left
    queryFn: ({ signal }) => callCalendar(backend, {}, signal),
  });
}

/** Makes, replaces or removes the secret URL of the calendar. */
export function useCalendarAction() {
  const backend = useOwnerBackend();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (action: CalendarAction) => callCalendar(backend, action),
    onSuccess: (calendar) => cache.setQueryData(CALENDAR_KEY, calendar),
  });
}
