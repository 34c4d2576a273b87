"""The long tests and the resilience scenarios, in runs that go on where one was stopped."""
