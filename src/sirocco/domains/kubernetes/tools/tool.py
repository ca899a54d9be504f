"""A tool: its arguments as a model, whose docstring describes the tool and whose `call` performs it."""

from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sirocco.domains.kubernetes.tools.session import Session, ToolError

Kind = Annotated[
    str,
    Field(min_length=1, description="Resource type: a kind, plural or short name, such as Deployment, pods or svc."),
]
Name = Annotated[str, Field(min_length=1, description="Name of the resource.")]
Namespace = Annotated[str, Field(description="Namespace; empty means the default namespace of the connection.")]
ApiVersion = Annotated[str, Field(description="API version such as apps/v1, where a type is served in several.")]


class Tool(BaseModel):
    """What all tools have in common."""

    # Built on the first call, since most programs only want to know the names.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)
    reads_only: ClassVar[bool] = True
    """Whether it leaves the cluster unchanged."""
    destroys: ClassVar[bool] = False
    """Whether it may destroy something."""
    asks: ClassVar[str] = ""
    """The service around the cluster that it asks, if agents can be given that separately; empty for the cluster
    itself."""

    async def call(self, session: Session) -> str:
        """Perform it and return the text for the caller; raise ToolError if that fails."""
        raise NotImplementedError

    @classmethod
    def description(cls) -> str:
        """The purpose of the tool."""
        return " ".join((cls.__doc__ or "").split())

    @classmethod
    def input_schema(cls) -> dict[str, Any]:
        """The JSON Schema of its arguments."""
        schema = cls.model_json_schema()
        # A title only repeats the name, and models read it with every request.
        return _without_titles({key: value for key, value in schema.items() if key != "description"})

    @classmethod
    def from_arguments(cls, arguments: Any) -> "Tool":
        """The tool with a caller's arguments; raise ToolError naming everything that is wrong with them."""
        try:
            return cls.model_validate({} if arguments is None else arguments)
        except ValidationError as error:
            problems = (
                f"{'.'.join(map(str, found['loc'])) or 'arguments'}: {found['msg']}" for found in error.errors()
            )
            raise ToolError("invalid arguments: " + "; ".join(problems)) from None


def _without_titles(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema without its own title and those of its properties, which may well be called `title`."""
    inner = {name: _without_titles(part) for name, part in schema.get("properties", {}).items()}
    bare = {key: value for key, value in schema.items() if key != "title"}
    return bare | ({"properties": inner} if inner else {})
