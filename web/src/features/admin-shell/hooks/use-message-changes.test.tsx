import { act } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { useMessageChanges } from "@/features/admin-shell/hooks/use-message-changes";
import { renderApp } from "@/test/render";

type OnStatus = (status: string, error?: Error) => void;
type FakeChannel = { on(): FakeChannel; subscribe(onStatus: OnStatus): FakeChannel };

/** A client with one channel. `report` reports a status of that channel, as the client does. */
function fakeClient() {
  let report: OnStatus = () => undefined;
  const channel: FakeChannel = {
    on: () => channel,
    subscribe: (onStatus) => {
      report = onStatus;
      return channel;
    },
  };
  const getUser = vi.fn(async () => ({ data: { user: null }, error: null }));
  const client = {
    auth: { getUser },
    channel: () => channel,
    // The client reports the same status when the page leaves the channel.
    removeChannel: vi.fn(async () => report("CLOSED")),
  };
  return { client, getUser, report: (...args: Parameters<OnStatus>) => act(() => report(...args)) };
}

function Probe() {
  return <p>{useMessageChanges() ? "live" : "not live"}</p>;
}

it("A-guard-8: asks once whether the session has ended when the server has closed the channel", () => {
  const { client, getUser, report } = fakeClient();
  const { getByText } = renderApp(<Probe />, { owner: client as never });
  report("SUBSCRIBED");
  expect(getByText("live")).toBeVisible();
  expect(getUser).not.toHaveBeenCalled();
  report("CHANNEL_ERROR", new Error("channel error: connection lost")); // the client rejoins
  expect(getUser).not.toHaveBeenCalled();
  report("CLOSED");
  report("CLOSED");
  expect(getUser).toHaveBeenCalledOnce();
});

it("A-guard-8: asks at each join that the server refuses because the session has ended meanwhile", () => {
  const { client, getUser, report } = fakeClient();
  renderApp(<Probe />, { owner: client as never });
  report("SUBSCRIBED");
  report("CHANNEL_ERROR", new Error("channel error: connection lost"));
  report("CHANNEL_ERROR", new Error("The token could not be checked, please try again"));
  expect(getUser).not.toHaveBeenCalled();
  report("CHANNEL_ERROR", new Error("Access was revoked"));
  expect(getUser).toHaveBeenCalledOnce();
  report("CHANNEL_ERROR", new Error("Access was revoked")); // the first question may have failed
  expect(getUser).toHaveBeenCalledTimes(2);
});

it("does not ask when the page leaves the channel", () => {
  const { client, getUser, report } = fakeClient();
  const { unmount } = renderApp(<Probe />, { owner: client as never });
  report("SUBSCRIBED");
  unmount();
  expect(client.removeChannel).toHaveBeenCalledOnce();
  expect(getUser).not.toHaveBeenCalled();
});
