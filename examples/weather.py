"""Weather without a network: a typed answer for a known city, and a failure a model can act on."""

from typing import Annotated

from msgspec import Meta, Struct

from qortal_mcp import READ_ONLY, Server, ToolError, run, tool


class Forecast(Struct):
    """What the tool gives back; its output schema is made from this."""

    location: str
    temperatureCelsius: float
    description: str


FORECASTS = {
    "oslo": Forecast("Oslo", -3.5, "light snow"),
    "bergen": Forecast("Bergen", 6.0, "rain"),
    "tromsø": Forecast("Tromsø", -8.0, "clear, northern lights likely"),
}

City = Annotated[str, Meta(min_length=1, max_length=60, description="A city, such as Oslo.")]


@tool("Weather forecast", annotations=READ_ONLY)
def get_weather_forecast(location: City) -> Forecast:
    """Today's weather in a city: temperature in degrees Celsius and a few words. Use it for weather questions."""
    forecast = FORECASTS.get(location.strip().lower())
    if forecast is None:
        known = ", ".join(f.location for f in FORECASTS.values())
        raise ToolError("NOT_FOUND", "City not found.", f"Known cities: {known}.")
    return forecast


if __name__ == "__main__":
    run(Server("weather", "1.0", tools=[get_weather_forecast]))
